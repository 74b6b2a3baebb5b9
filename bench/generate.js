/**
 * A home with generated local-backend conversations: `generateHome(directory, { megabytes, conversations })`.
 * The same options give the same bytes. Texts have what real ones have: quotes, escapes, several scripts, a few long results.
 */
import fs from 'node:fs'
import path from 'node:path'

const PHRASE = 'The build failed in "packages/core" \\ see log — naïve façade, 漢字かな, emoji 🙂, tab\there \u2028 end\n'
const START = Date.UTC(2026, 8, 1)

export function generateHome(directory, { megabytes, conversations = 1, seed = 7 }) {
  const random = generator(seed)
  const bytesEach = (megabytes * 1e6) / conversations
  let message = 0
  for (let number = 1; number <= conversations; number++) {
    const id = `local-conv-${number}`
    const folder = path.join(directory, '.letta/lc-local-backend/conversations', Buffer.from(`conversation:${id}`).toString('base64url'))
    fs.mkdirSync(folder, { recursive: true })
    const created_at = new Date(START + message * 700).toISOString()
    fs.writeFileSync(path.join(folder, 'conversation.json'), JSON.stringify({ id, agent_id: 'agent-local-bench', created_at }))
    message = writeMessages(path.join(folder, 'messages.jsonl'), { id, created_at, bytesEach, message, random })
  }
}

function writeMessages(file, { id, created_at, bytesEach, message, random }) {
  const fd = fs.openSync(file, 'w')
  let text = line({ type: 'session', version: 3, id, timestamp: created_at, cwd: '/home/bench/repo' })
  for (let written = 0; written < bytesEach; message++) {
    const entry = line(entryOf(message, PHRASE.repeat(1 + Math.floor(random() ** 5 * 80))))
    written += Buffer.byteLength(entry)
    text += entry
    if (text.length > 1 << 20) {
      fs.writeSync(fd, text)
      text = ''
    }
  }
  fs.writeSync(fd, text)
  fs.closeSync(fd)
  return message
}

function entryOf(number, body) {
  const ms = START + number * 700
  const timestamp = new Date(ms).toISOString()
  const shared = { id: `ui-msg-${number}`, timestamp: ms, metadata: { created_at: timestamp } }
  return {
    type: 'message',
    id: number.toString(16).padStart(8, '0'),
    parentId: null,
    timestamp,
    message: { ...shared, ...ROLES[number % 4](number, body) },
  }
}

const model = { api: 'openai-completions', provider: 'bench', model: 'bench-1', usage: { input: 10, output: 5 } }

const ROLES = [
  (_, body) => ({ role: 'user', content: [{ type: 'text', text: body }] }),
  (number, body) => ({
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: body },
      { type: 'toolCall', id: `call_${number}`, name: 'Bash', arguments: { command: `grep -r ${body.slice(0, 40)}` } },
    ],
    ...model,
    stopReason: 'toolUse',
  }),
  (number, body) => ({
    role: 'toolResult',
    toolCallId: `call_${number - 1}`,
    toolName: 'Bash',
    content: [{ type: 'text', text: body + body }],
    isError: false,
  }),
  (_, body) => ({ role: 'assistant', content: [{ type: 'text', text: body }], ...model, stopReason: 'stop' }),
]

function line(value) {
  return `${JSON.stringify(value)}\n`
}

/** A small linear congruential generator: Math.random has no seed. */
function generator(seed) {
  let state = seed
  return () => (state = (state * 1664525 + 1013904223) % 4294967296) / 4294967296
}
