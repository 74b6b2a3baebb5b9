import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { csv } from '../../src/output/index.js'
import type { Row } from '../../src/rows/index.js'
import { hasChromium, Reader } from '../helpers/browser.js'
import { htmlOf, row, triageRows } from '../helpers/report.js'

const ROWS = 100_000
const WORDS = 'the agent reads <App.tsx>, "quotes" it\nand writes naïve 漢字 & more '.split(' ')

/** Rows as a busy year leaves them: prompts, replies, calls and results, some with code in them. */
function* manyRows(): Generator<Row> {
  for (let i = 0; i < ROWS; i++) {
    const kind = i % 4
    const text = Array.from({ length: 10 + ((i * 7919) % 60) }, (_, n) => WORDS[(i + n) % WORDS.length]).join(' ')
    yield row({
      timestamp_utc: new Date(Date.UTC(2026, 0, 1) + i * 60_000).toISOString(),
      session_id: `local-conv-${Math.floor(i / 500)}`,
      source_file: `.letta/lc-local-backend/conversations/Y29udi0${Math.floor(i / 500)}/messages.jsonl`,
      source_line: (i % 500) + 2,
      turn_type: (['user', 'tool_use', 'tool_result', 'assistant'] as const)[kind]!,
      ...(kind === 1 || kind === 2 ? { tool_name: 'Bash', tool_use_id: `call_${i - (kind - 1)}` } : {}),
      text: kind === 1 ? `cat src/file-${i}.ts | head -${i % 90}` : i === 77_776 ? 'the needle' : text,
      details: kind === 2 ? { is_error: false } : {},
    })
  }
}

describe(`a report of ${ROWS} rows`, () => {
  let html: string
  let rows: Row[]
  let reader: Reader | undefined
  beforeAll(async () => {
    rows = [...manyRows()]
    html = htmlOf(await triageRows(rows))
    if (hasChromium) reader = await Reader.start()
  })
  afterAll(async () => reader?.stop())

  test('is at most twice as large as the CSV of the same rows', () => {
    const { encode } = csv({ details: false })
    const size = rows.reduce((sum, one) => sum + Buffer.byteLength(encode(one)), 0)
    expect(Buffer.byteLength(html)).toBeLessThan(2 * size)
  })

  const rendered = hasChromium ? test : test.skip
  rendered('opens in Chromium, holds only the lines that are in view, and answers a search within two seconds', async () => {
    const { page, noise } = await reader!.open(html)
    expect(await page.locator('.line').count()).toBeLessThan(80)
    const started = Date.now()
    await page.locator('#search').fill('the needle')
    await page.locator('#search').press('Enter')
    expect(await page.locator('.status').textContent()).toBe('1 of 100,000 rows')
    expect(Date.now() - started).toBeLessThan(2_000)
    expect(noise).toEqual([])
    await page.context().close()
  })
})
