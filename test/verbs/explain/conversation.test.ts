import { describe, expect, test } from '@jest/globals'
import { letta } from '../../../src/catalog/index.js'
import { Evidence } from '../../../src/evidence/index.js'
import { LettaParser } from '../../../src/parsers/letta/index.js'
import { ExplainedConversation, explainConversation } from '../../../src/verbs/explain/conversation.js'
import { masksFor } from '../../../src/verbs/explain/masks.js'
import { NotInEvidence } from '../../../src/verbs/explain/row.js'
import { expectedRows, fixture, jsonLines, makeHome } from '../../helpers/fixtures.js'
import { validator } from '../../helpers/schemas.js'

const entries = [letta]
const parsers = [{ parser: new LettaParser(letta), plugin: 'test' }]
const valid = validator(ExplainedConversation)
const explain = async (text: string, ...homes: string[]) =>
  (await explainConversation(text, () => new Evidence({ homes }), parsers, { entries })).explained

describe('a recorded conversation', () => {
  const given = fixture('letta/0.32.18-local')

  test('has every row of the timeline, the results with their calls', async () => {
    const found = await explain('local-conv-9', given.home)
    expect(valid(found)).toEqual([])
    const rows = expectedRows(given).filter(({ session_id }) => session_id === 'local-conv-9')
    const results = found.turns.filter(({ result }) => result !== null)
    expect(found.turns.length + results.length).toBe(rows.length)
    expect(results.length).toBeGreaterThan(0)
    for (const { tool_use_id, result } of results) {
      const own = rows.find(
        (row) => row.turn_type === 'tool_result' && row.tool_use_id === tool_use_id && row.source_line === result!.source_line,
      )
      expect(own?.text).toBe(result!.text)
    }
  })

  test('comes from the best store first', async () => {
    const found = await explain('local-conv-9', given.home)
    expect(found.sources[0]).toMatchObject({ store: 'messages' })
  })

  test('default is not unique: the agent has to be named', async () => {
    await expect(explain('default', given.home)).rejects.toThrow(/several conversations: say which, .*agent-local-[^ ]+\/default or/)
    const found = await explain('agent-local-e073a4df-34f7-40ca-9ba3-c13515234fa0/default', given.home)
    expect(found).toMatchObject({ conversation: 'default', agent_id: 'agent-local-e073a4df-34f7-40ca-9ba3-c13515234fa0' })
    expect(await explain('alice:agent-local-e073a4df-34f7-40ca-9ba3-c13515234fa0/default', given.home)).toEqual(found)
  })

  test('that is not there is said so, with some that are', async () => {
    await expect(explain('no-such', given.home)).rejects.toThrow(NotInEvidence)
    await expect(explain('no-such', given.home)).rejects.toThrow('local-conv-')
  })

  test('an output that was swept is named as not there', async () => {
    const found = await explain('agent-local-e073a4df-34f7-40ca-9ba3-c13515234fa0/default', given.home)
    const cut = found.turns.filter(({ result }) => result?.full)
    expect(cut.map(({ result }) => result!.full)).toContainEqual({
      recorded: '/home/alice/.letta/projects/home_alice_repo/agent-tools/bash-fe8a2268-0a4a-439d-be9d-8ee4e1e5b6b5.txt',
      source_file: null,
      text: null,
      problem: expect.stringContaining('not in the evidence'),
    })
  })
})

describe('a long output', () => {
  const directory = '.letta/lc-local-backend/conversations/Y29udmVyc2F0aW9uOmxvY2FsLWNvbnYtMQ'
  const message = (id: number, given: object) => ({
    type: 'message',
    id: `e${id}`,
    timestamp: `2026-11-30T10:00:0${id}.000Z`,
    message: { id: `m${id}`, ...given },
  })
  const home = (recorded: string, files: Record<string, string> = {}) =>
    makeHome({
      ...files,
      [`${directory}/messages.jsonl`]: jsonLines(
        { type: 'session', version: 3, id: 'local-conv-1', timestamp: '2026-11-30T09:59:00.000Z', cwd: '/home/alice/work' },
        message(1, { role: 'assistant', content: [{ type: 'toolCall', id: 'c1', name: 'Bash', arguments: { command: 'seq 3' } }] }),
        message(2, {
          role: 'toolResult',
          toolCallId: 'c1',
          toolName: 'Bash',
          isError: false,
          content: [{ type: 'text', text: `1\n[Full output written to: ${recorded}]` }],
        }),
      ),
    })
  const file = '.letta/projects/home_alice_work/agent-tools/bash-1.txt'

  test('is read whole from the file that the result names', async () => {
    const found = await explain('local-conv-1', home(`/home/alice/${file}`, { [file]: '1\n2\n3\n' }))
    expect(found.turns[0]?.result?.full).toEqual({ recorded: `/home/alice/${file}`, source_file: file, text: '1\n2\n3\n', problem: null })
    expect(valid(found)).toEqual([])
  })

  test('on Windows too', async () => {
    const recorded = `C:\\Users\\alice\\${file.replaceAll('/', '\\')}`
    expect((await explain('local-conv-1', home(recorded, { [file]: 'whole' }))).turns[0]?.result?.full?.text).toBe('whole')
  })

  test('is never read from outside the evidence', async () => {
    for (const recorded of [
      '/etc/passwd',
      '/home/alice/.letta/settings.json',
      '../../../../etc/passwd',
      `/x/../${file}/../../../../settings.json`,
    ]) {
      const found = await explain('local-conv-1', home(recorded, { '.letta/settings.json': '{"env":{"A":"secret"}}' }))
      expect(found.turns[0]?.result?.full).toMatchObject({ source_file: null, text: null })
    }
  })

  test('has its secrets masked', async () => {
    const place = home(`/home/alice/${file}`, { [file]: 'LETTA_API_KEY=sk-let-QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo=\n' })
    const { explained } = await explainConversation('local-conv-1', () => new Evidence({ homes: [place] }), parsers, {
      entries,
      masks: await masksFor(entries),
    })
    expect(JSON.stringify(explained)).not.toContain('QUJDREVG')
    expect(explained.turns[0]?.result?.full?.text).toContain('[masked')
  })
})

test('a call of a transcript has the result of its own line', async () => {
  const line = (given: object) => ({ kind: 'tool_call', name: 'Bash', captured_at: '2026-11-30T10:00:00.000Z', ...given })
  const home = makeHome({
    '.letta/transcripts/agent-1/conv-1/transcript.jsonl': jsonLines(
      line({ argsText: '{"command":"a"}', resultText: 'A', resultOk: true, source_line_id: 'call_1' }),
      line({ argsText: '{"command":"b"}', resultText: 'B', resultOk: false }),
      line({ argsText: '{"command":"c"}' }),
    ),
  })
  const found = await explain('conv-1', home)
  expect(
    found.turns
      .filter(({ turn_type }) => turn_type === 'tool_use')
      .map(({ text, result }) => [text, result?.text ?? null, result?.result_ok ?? null]),
  ).toEqual([
    ['a', 'A', true],
    ['b', 'B', false],
    ['c', null, null],
  ])
  expect(found.notes.join()).toContain('Only a transcript')
})
