/**
 * What a command line may be for, told by its words: data, in the order of weight. A match is a reason to look, not a judgement; `unless`
 * holds what looks alike and is not meant. Commands are looked at, never run.
 */
export interface CommandRule {
  readonly id: string
  readonly title: string
  readonly rank: 1 | 2 | 3
  readonly reason: string
  readonly caveat: string
  readonly when: readonly RegExp[]
  readonly unless: readonly RegExp[]
  /** The same, told by the path that a file tool was given. */
  readonly paths?: readonly RegExp[]
}

const WORDS = 'The words of a command show what was asked of the tool, not what it did; see the result beside it.'
/** Where a command can begin: a line, after a separator, in a subshell. */
const START = String.raw`(?:^|[;&|({]|\$\(|\b(?:sudo|doas|env|nohup|time|xargs|exec|then|do)\s)\s*(?:\w+=\S*\s+)*(?:sudo\s+)?`
const command = (rest: string, flags = '') => new RegExp(START + rest, `m${flags}`)

export const COMMAND_RULES: readonly CommandRule[] = [
  {
    id: 'download-and-run',
    title: 'Commands that download and run',
    rank: 1,
    reason: 'What was run came from the network at that moment and need not be on the disk.',
    caveat: `${WORDS} Many programs are installed this way.`,
    when: [
      /\b(?:curl|wget|fetch)\b[^\n|;]{0,400}\|\s*(?:sudo\s+)?(?:(?:\/usr)?\/bin\/)?(?:ba|z|da|k|fi)?sh\b/,
      /\b(?:curl|wget|fetch)\b[^\n|;]{0,400}\|\s*(?:sudo\s+)?(?:python3?|perl|ruby|node|php)\b/,
      /\b(?:ba|z|da)?sh\s+(?:-c\s+)?["']?(?:<\(|\$\(|`)\s*(?:curl|wget)\b/,
      /\beval\s+["']?(?:\$\(|`)\s*(?:curl|wget)\b/,
      /\b(?:curl|wget)\b[^\n]{0,400}(?:&&|;)\s*(?:sudo\s+)?(?:chmod\s+(?:\+x|[0-7]{3,4})\b|(?:ba)?sh\s+\S)/,
      /\b(?:iex|Invoke-Expression)\b[^\n]{0,200}\b(?:iwr|irm|Invoke-WebRequest|Invoke-RestMethod|DownloadString)\b/i,
      /\b(?:iwr|irm|Invoke-WebRequest|Invoke-RestMethod|DownloadString)\b[^\n]{0,200}\|\s*(?:iex|Invoke-Expression)\b/i,
      /\b(?:certutil\s+-urlcache|bitsadmin\s+\/transfer|mshta\s+https?:)/i,
    ],
    unless: [],
  },
  {
    id: 'outbound-tunnel',
    title: 'Commands that open a way out or in',
    rank: 1,
    reason: 'A tunnel or a shell over the network passes by what guards the network.',
    caveat: `${WORDS} Tunnels are common in development.`,
    when: [
      command(String.raw`ssh\s[^\n]{0,200}-[A-Za-z]*[RDLw]\s*\S*\d`),
      command(
        String.raw`(?:ngrok|cloudflared|localtunnel|bore|frpc|chisel|inlets|tailscale\s+funnel|devtunnel|zrok)\b(?!\s*(?:--?(?:help|version)\b|$))`,
      ),
      /\/dev\/(?:tcp|udp)\/[\w.$]+\/\d+/,
      command(String.raw`(?:nc|ncat|netcat)\b[^\n]{0,120}\s-[a-z]*[ec]\b`),
      command(String.raw`socat\b[^\n]{0,200}\bEXEC:`, 'i'),
    ],
    unless: [],
  },
  {
    id: 'logging-disabled',
    title: 'Commands that stop or clear records',
    rank: 1,
    reason: 'What would have been recorded afterwards, or had been before, can be missing.',
    caveat: WORDS,
    when: [
      /\b(?:unset\s+HISTFILE|HISTFILE=(?:\/dev\/null|["']{2}|$|\s)|HISTSIZE=0|set\s+\+o\s+history)/m,
      command(String.raw`history\s+-[cdw]+\b`),
      /(?:>|\brm\b[^\n;|&]{0,80}|\btruncate\b[^\n]{0,80}|\bshred\b[^\n]{0,80})\s*\S*\.(?:bash|zsh|python)_history\b/,
      command(String.raw`systemctl\s+(?:stop|disable|mask)\s+\S*(?:audit|rsyslog|syslog|journald|falcon|osquery|wazuh|clamav|sysmon)`),
      command(String.raw`(?:auditctl\s+-(?:e\s*0|D)|setenforce\s+0|journalctl\s+[^\n]{0,60}--vacuum)`),
      /(?:\brm\b|\bshred\b|\btruncate\b|>)[^\n;|&]{0,120}\/var\/log\//,
      /\b(?:wevtutil\s+cl|Clear-EventLog|Set-MpPreference[^\n]{0,80}-Disable)/i,
    ],
    unless: [/(?:>>|\btail\b|\bcat\b)\s*\/var\/log\/[\w./-]+\s*$/],
  },
  {
    id: 'keys-reached-for',
    title: 'Calls that name keys or passwords',
    rank: 1,
    reason: 'The place that the call names usually holds credentials, of which a copy can be in its result.',
    caveat: `${WORDS} Whether the file was there and was read, the result says; values are masked here.`,
    when: [
      /(?:~|\$HOME|\/home\/[\w.-]+|\/root|\/Users\/[\w.-]+)\/\.(?:ssh\/(?!known_hosts|config\b|\S*\.pub\b)\S*|aws\/credentials|gnupg\b|netrc\b|git-credentials\b|kube\/config|docker\/config\.json|npmrc\b|pypirc\b|config\/(?:gh\/hosts|gcloud)\S*)/,
      /\/etc\/(?:shadow|gshadow|sudoers)\b/,
      /\b(?:cat|less|head|tail|cp|scp|base64|xxd|strings|curl|grep|source|type|Get-Content)\b[^\n|;]{0,200}(?:^|[\s/'"])(?:\.env(?:\.\w+)?|id_(?:rsa|ed25519|ecdsa|dsa)|credentials\.json|\S+\.(?:pem|p12|pfx|keystore|kdbx))(?=$|[\s'"|;&)])/m,
      command(String.raw`security\s+(?:find-(?:generic|internet)-password|dump-keychain)`),
      command(
        String.raw`(?:secret-tool\s+(?:lookup|search)|gpg\s+[^\n]{0,80}--export-secret|pass\s+show|op\s+(?:read|item\s+get)|vault\s+(?:read|kv\s+get)|gh\s+auth\s+token|aws\s+secretsmanager\s+get|kubectl\s+get\s+secrets?)\b`,
      ),
      command(String.raw`(?:printenv|env|set)\s*(?:$|\|\s*grep[^\n]{0,80}(?:key|token|secret|pass))`, 'i'),
      /(?:Library\/Keychains|Login Data|logins\.json|key4\.db|mimikatz|lsass|SAM\b[^\n]{0,20}\bSYSTEM\b)/,
    ],
    unless: [/\bssh-keygen\s+-[lF]/],
    paths: [
      /\/\.(?:ssh\/(?!known_hosts|config\b|\S*\.pub\b)|aws\/credentials|gnupg\/|netrc$|git-credentials$|kube\/config$|docker\/config\.json$)/,
      /(?:^|\/)(?:\.env(?:\.(?!example|sample|template)\w+)?|id_(?:rsa|ed25519|ecdsa|dsa)|credentials\.json|[^/]+\.(?:pem|p12|pfx|kdbx))$/,
      /^\/etc\/(?:shadow|gshadow|sudoers)/,
    ],
  },
  {
    id: 'persistence',
    title: 'Calls that make something run again',
    rank: 1,
    reason: 'What such a place names runs later, without anyone asking for it.',
    caveat: WORDS,
    when: [
      /\|\s*(?:sudo\s+)?crontab\b|(?:^|[;&|]\s*)(?:sudo\s+)?crontab\s+(?!-l\b)\S/m,
      /(?:>>?|\btee\b[^\n|;]{0,40}|\bcp\b[^\n|;]{0,120}|\bmv\b[^\n|;]{0,120}|\bsed\s+-i\b[^\n|;]{0,120})\s*(?:"|')?(?:~|\$HOME|\/home\/[\w.-]+|\/root|\/Users\/[\w.-]+)\/\.(?:bashrc|bash_profile|profile|zshrc|zprofile|zshenv|config\/(?:fish|autostart|systemd)|ssh\/authorized_keys)/,
      /(?:>>?|\btee\b[^\n|;]{0,40}|\bcp\b[^\n|;]{0,120})\s*\/(?:etc\/(?:cron|systemd|init\.d|rc\.local|profile)|lib\/systemd|Library\/Launch)/,
      command(String.raw`systemctl\s+(?:--user\s+)?enable\b`),
      command(String.raw`launchctl\s+(?:load|bootstrap|enable)\b`),
      /\bschtasks\s+\/create\b|\bRegister-ScheduledTask\b|\\CurrentVersion\\Run\b/i,
      /(?:>>?|\btee\b|\bcp\b|\bln\b|chmod\s+\+x)[^\n|;]{0,120}\.git\/hooks\/(?!\S*\.sample)/,
      command(String.raw`(?:letta\s+cron\s+add|at\s+(?:now|\d))`),
    ],
    unless: [],
    paths: [
      /\/\.(?:bashrc|bash_profile|profile|zshrc|zprofile|zshenv)$|\/\.ssh\/authorized_keys$|\/\.config\/(?:autostart|systemd)\//,
      /^\/etc\/(?:cron|systemd|init\.d|rc\.local|profile)|\/Library\/Launch(?:Agents|Daemons)\/|\/\.git\/hooks\/[^.]+$/,
    ],
  },
  {
    id: 'wide-deletion',
    title: 'Commands that delete widely',
    rank: 2,
    reason: 'Files may be gone that others need, or that would have been evidence.',
    caveat: `${WORDS} Build directories are deleted this way every day.`,
    when: [
      command(String.raw`rm\s+(?:-\w+\s+)*-(?:\w*r\w*f|\w*f\w*r|-recursive)\w*\b`, 'i'),
      command(String.raw`rm\s+-r\s+-f\b|rm\s+-f\s+-r\b`),
      command(String.raw`find\b[^\n]{0,300}\s-delete\b`),
      command(String.raw`find\b[^\n]{0,300}-exec\s+(?:rm|shred)\b`),
      command(String.raw`(?:shred|wipe|srm)\s+\S`),
      command(String.raw`git\s+clean\s+-\w*[fdx]\w*[fdx]`),
      command(String.raw`(?:mkfs(?:\.\w+)?\s+\S|dd\s[^\n]{0,200}of=\/dev\/)`),
      /\b(?:Remove-Item\b[^\n]{0,200}-Recurse|rmdir\s+\/s|del\s+\/[sq])\b/i,
      /\bDROP\s+(?:TABLE|DATABASE|SCHEMA)\b/i,
    ],
    unless: [/^\s*rm\s+-rf?\s+(?:\.\/)?(?:node_modules|dist|build|target|coverage|\.next|\.cache|__pycache__|out)\/?\s*$/],
  },
  {
    id: 'history-changed',
    title: 'Commands that rewrite history',
    rank: 2,
    reason: 'What a repository showed before need not be what it shows now.',
    caveat: `${WORDS} Rebasing is everyday work.`,
    when: [
      command(String.raw`git\s+(?:-[cC]\s+\S+\s+|-\S+\s+)*push\s[^\n;|&]{0,200}(?:--force\b|--force-with-lease\b|\s-f\b|\s\+\w)`),
      command(
        String.raw`git\s+(?:-[cC]\s+\S+\s+|-\S+\s+)*(?:reset\s+--hard|filter-branch|filter-repo|rebase\b|commit\s[^\n;|&]{0,80}--amend|reflog\s+(?:expire|delete)|gc\s[^\n]{0,60}--prune=now|update-ref\s+-d|branch\s+-D)`,
      ),
      /--date=|GIT_(?:AUTHOR|COMMITTER)_DATE=/,
      command(String.raw`touch\s+(?:-\w+\s+)*-(?:t|d|r)\b`),
      command(String.raw`(?:timedatectl\s+set-time|hwclock\s+--set|date\s+(?:-s|--set)\b)`),
    ],
    unless: [/\bgit\s+log\b[^\n;|&]*--date=/, /\brebase\s+--(?:abort|show-current-patch)\b/],
  },
]

const SHELL_TOOL = /^(?:ba|z|power)?sh(?:ell)?$|bash|shell|terminal|exec_command|run_command|^command$|powershell/i

/** Whether the text of a call of this tool is a command line. */
export function isShell(tool: string): boolean {
  return SHELL_TOOL.test(tool)
}

const FILE_TOOL = /read|write|edit|patch|view|create|notebook|delete|glob|^ls$|file/i

export function isFileTool(tool: string): boolean {
  return FILE_TOOL.test(tool) && !/todo|task|memory|plan/i.test(tool)
}

/** Longer commands are looked at up to here: scripts are written to files, and a hostile text must not hold up the report. */
const LOOKED_AT = 20_000

export function matchesCommand(rule: CommandRule, text: string): boolean {
  const looked = text.slice(0, LOOKED_AT)
  return rule.when.some((form) => form.test(looked)) && !rule.unless.some((form) => form.test(looked))
}

export function matchesPath(rule: CommandRule, path: string): boolean {
  return rule.paths?.some((form) => form.test(path.slice(0, LOOKED_AT))) ?? false
}
