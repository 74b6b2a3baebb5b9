import { expect, test } from '@jest/globals'
import { markdownReport, textReport } from '../../src/report/index.js'
import { fixture } from '../helpers/fixtures.js'
import { htmlOf, row, triageHome, triageRows } from '../helpers/report.js'

test('no view of a redacted report names the account, its host or its home', async () => {
  const made = await triageHome(fixture('letta/0.32.18-local').home, { redactNames: true }, 'alice-box')
  for (const view of [htmlOf(made), markdownReport(made.report), textReport(made.report).join('\n'), JSON.stringify(made.report)]) {
    expect(view).not.toMatch(/(?<![a-z0-9])alice(?![a-z0-9])/i)
    expect(view).not.toContain('alice-box')
    expect(view).toContain('user-1')
  }
})

test('it says that it is redacted, and that this is no anonymity', async () => {
  const { report } = await triageHome(fixture('letta/seed').home, { redactNames: true })
  expect(report.head.redacted).toBe(true)
  expect(report.head.caveats.join(' ')).toContain('does not make the report anonymous')
})

test('one name has one pseudonym, wherever it stands and however it is written', async () => {
  const { evidence } = await triageRows(
    [
      row({ user: 'bob', host: 'lab', project_path: '', text: 'cd /home/carol/x; scp C:\\Users\\Carol\\y bob@lab:/home/bob' }),
      row({
        user: 'bob',
        text: '"C:\\\\Users\\\\carol\\\\z" and Bob again, but not bobbin',
        project_path: '/Users/bob/p',
        source_file: '/Users/bob/p/.letta/settings.json',
      }),
    ],
    { redactNames: true },
  )
  expect(evidence.entries.map(({ row }) => row.text)).toEqual([
    'cd /home/user-2/x; scp C:\\Users\\user-2\\y user-1@host-1:/home/user-1',
    '"C:\\\\Users\\\\user-2\\\\z" and user-1 again, but not bobbin',
  ])
  expect(evidence.entries[1]!.row.project_path).toBe('/Users/user-1/p')
  expect(evidence.entries[1]!.locator).toBe('user-1:/Users/user-1/p/.letta/settings.json:2')
})

test('secrets are masked in every view, redacted or not', async () => {
  const secret = `ghp_${'a1B2'.repeat(9)}`
  const made = await triageRows([
    row({ text: `use ${secret}`, session_id: secret, tool_name: secret, details: { kind: 'scheduled-task', prompt: secret, id: secret } }),
  ])
  for (const view of [htmlOf(made), markdownReport(made.report), JSON.stringify(made.report)]) {
    expect(view).not.toContain(secret)
    expect(view).toContain('[masked: 40 characters]')
  }
})
