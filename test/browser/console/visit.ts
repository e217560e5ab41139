/// <reference lib="dom" />
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { PATIENCE } from '../../patience.js'

/** A page in its own browser context, and the errors in it, including violations of the content security policy. */
export interface Visit {
  readonly page: Page
  readonly complaints: readonly string[]
  /** Switches to another view without reloading the page. */
  readonly go: (hash: string) => Promise<void>
}

/** The browser logs each failed request. Some tests make requests fail on purpose. */
const EXPECTED = /Failed to load resource/

export async function visit(browser: Browser, address: string, options: BrowserContextOptions = {}): Promise<Visit> {
  const page = await (await browser.newContext({ reducedMotion: 'reduce', ...options })).newPage()
  page.setDefaultTimeout(PATIENCE.expect.poll.timeout)
  const complaints: string[] = []
  page.on('console', (message) => {
    const isBad = message.type() === 'error' || message.type() === 'warning'
    if (isBad && !EXPECTED.test(message.text())) complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
  await page.goto(address)
  return {
    page,
    complaints,
    go: async (hash) => {
      await page.evaluate((wanted) => {
        location.hash = wanted
      }, hash)
    },
  }
}
