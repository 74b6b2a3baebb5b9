import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { cases, fixture } from '../helpers/fixtures.js'
import { hasChromium, Reader } from '../helpers/browser.js'
import { htmlOf, triageHome } from '../helpers/report.js'

const rendered = hasChromium ? describe : describe.skip

let reader: Reader
beforeAll(async () => {
  if (hasChromium) reader = await Reader.start()
})
afterAll(async () => reader?.stop())

rendered.each(cases('letta').map((given) => [given.name, given] as const))('the report of %s in Chromium', (_, given) => {
  test('opens at either width, light and dark, without a request or a word on the console, and fits', async () => {
    const html = htmlOf(await triageHome(given.home))
    for (const [width, scheme] of [
      [1280, 'light'],
      [390, 'dark'],
    ] as const) {
      const { page, noise } = await reader.open(html, { width, scheme })
      expect(noise).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')).toBe(0)
      await page.context().close()
    }
  })

  test('shows every row, every session and every finding that the model has', async () => {
    const made = await triageHome(given.home)
    const { page } = await reader.open(htmlOf(made))
    expect(await page.locator('.status').textContent()).toContain(made.evidence.entries.length.toLocaleString('en'))
    expect(await page.locator('tr.session').count()).toBe(made.report.sessions.length)
    expect(await page.locator('.finding h4').allTextContents()).toEqual(made.report.findings.map(({ title }) => title))
    await page.context().close()
  })
})

rendered('by keyboard alone', () => {
  const open = async () => reader.open(htmlOf(await triageHome(fixture('letta/0.32.18-local').home)))

  test('a search narrows the list, Enter opens a row, Escape closes it, / goes back to the search', async () => {
    const { page, noise } = await open()
    await page.locator('#search').focus()
    await page.keyboard.type('rm -rf')
    await page.keyboard.press('Enter')
    expect(await page.locator('.status').textContent()).toMatch(/^\d+ of 763 rows$/)
    expect(await page.locator('.line').count()).toBeGreaterThan(0)
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    expect(await page.locator('.detail').isVisible()).toBe(true)
    expect(await page.locator('.detail .text').textContent()).toContain('rm -rf')
    await page.keyboard.press('Escape')
    expect(await page.locator('.detail').isVisible()).toBe(false)
    await page.keyboard.press('/')
    expect(await page.evaluate('document.activeElement.id')).toBe('search')
    expect(noise).toEqual([])
    await page.context().close()
  })

  test('kinds of turns can be left out, one session or tool kept', async () => {
    const { page } = await open()
    await page.locator('.types input').first().focus()
    await page.keyboard.press('Space')
    expect(await page.locator('.status').textContent()).toMatch(/^637 of 763/)
    await page.locator('.choices select').nth(1).focus()
    await page.keyboard.type('Ed')
    expect(await page.locator('.status').textContent()).toMatch(/^2 of 763/)
    await page.context().close()
  })

  test('a session opens into its conversation, calls with their results, and closes again', async () => {
    const { page } = await open()
    const button = page.locator('button.open').first()
    await button.focus()
    await page.keyboard.press('Enter')
    expect(await button.getAttribute('aria-expanded')).toBe('true')
    const turns = page.locator('tr.opened').first()
    expect(await turns.locator('.turn.user').first().textContent()).toContain('hello there, plain text please')
    expect(await turns.locator('.turn.tool_use .result').first().textContent()).toContain('README.md')
    expect(await turns.locator('details.fold').first().getAttribute('open')).toBeNull()
    await page.keyboard.press('Enter')
    expect(await turns.isVisible()).toBe(false)
    await page.context().close()
  })

  test('the picture zooms into a bar and out again, and lists the rows of that time', async () => {
    const { page } = await open()
    const bar = page.locator('svg.bars .column[tabindex="0"]')
    await bar.focus()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Enter')
    expect(await page.locator('.bar p').first().textContent()).toMatch(/^\d+ rows from 2026-11-30 17:35 to 2026-11-30 17:35/)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    expect(await page.locator('.status').textContent()).toMatch(/ of 763 rows$/)
    await page.context().close()
  })

  test('a finding leads to its rows', async () => {
    const { page } = await open()
    await page.locator('#finding-calls-denied .controls button').focus()
    await page.keyboard.press('Enter')
    expect(await page.locator('.status').textContent()).toBe('3 of 763 rows')
    await page.context().close()
  })
})

rendered('in print', () => {
  test('nothing to press is printed, and places in the evidence stand whole', async () => {
    const { page } = await reader.open(htmlOf(await triageHome(fixture('letta/seed').home)))
    await page.emulateMedia({ media: 'print' })
    expect(await page.locator('nav').isVisible()).toBe(false)
    expect(await page.locator('.rows').isVisible()).toBe(false)
    expect(await page.locator('.finding').first().isVisible()).toBe(true)
    expect((await page.pdf()).subarray(0, 5).toString()).toBe('%PDF-')
    await page.context().close()
  })
})
