import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { chromium, type Browser, type Page } from 'playwright-core'

/** Debian's Chromium, which nobody here built; tests that need it say loudly when it is not there. */
export const CHROMIUM = '/usr/bin/chromium'
export const hasChromium = fs.existsSync(CHROMIUM)
if (!hasChromium) console.warn(`${CHROMIUM} is not there: the HTML report is NOT rendered in these tests (apt-get install chromium)`)

const FLAGS =
  '--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-component-update --disable-sync'.split(
    ' ',
  )

export interface Opened {
  readonly page: Page
  /** What went to the console, what failed, and every request but that of the file itself. */
  readonly noise: string[]
}

export class Reader {
  private constructor(
    private readonly browser: Browser,
    private readonly directory: string,
  ) {}

  static async start(): Promise<Reader> {
    const browser = await chromium.launch({ executablePath: CHROMIUM, headless: true, args: FLAGS })
    return new Reader(browser, fs.mkdtempSync(path.join(os.tmpdir(), 'agent-forensics-page-')))
  }

  async open(html: string, { width = 1280, scheme = 'light' as 'light' | 'dark' } = {}): Promise<Opened> {
    const file = path.join(this.directory, 'report.html')
    fs.writeFileSync(file, html)
    const context = await this.browser.newContext({ viewport: { width, height: 900 }, colorScheme: scheme })
    const page = await context.newPage()
    const noise: string[] = []
    page.on('console', (message) => noise.push(`console ${message.type()}: ${message.text()}`))
    page.on('pageerror', (error) => noise.push(`error: ${error.message}`))
    page.on('dialog', (dialog) => {
      noise.push(`dialog: ${dialog.message()}`)
      void dialog.dismiss()
    })
    page.on('popup', () => noise.push('popup'))
    page.on('request', (request) => {
      if (request.url() !== `file://${file}`) noise.push(`request: ${request.url().slice(0, 200)}`)
    })
    await page.goto(`file://${file}`)
    await page.waitForSelector('#report[aria-busy=false]', { state: 'attached' })
    return { page, noise }
  }

  async stop(): Promise<void> {
    await this.browser.close()
    fs.rmSync(this.directory, { recursive: true, force: true })
  }
}
