/** The page of docs/browser.md, in headless Chromium. */
/// <reference lib="dom" />
import { chromium, type Browser, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { nothingLeft, until } from '../matchmaker/studio.js'
import { chromiumPath, openSite } from './page.js'

if (chromiumPath === undefined) {
  process.stdout.write(
    'no Chromium on this machine: the page of docs/browser.md is not run (set CHROMIUM to its path)\n',
  )
}

describe.skipIf(chromiumPath === undefined)('the page in the docs', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await chromium.launch({
      executablePath: chromiumPath as string,
      args: ['--no-sandbox', '--disable-dev-shm-usage'],
    })
  }, 60_000)
  afterAll(() => browser?.close())

  const visit = async (url: string) => {
    const page = await (await browser.newContext()).newPage()
    await page.goto(url)
    await page.waitForSelector('#play:enabled')
    return page
  }
  const shows = (page: Page, text: string) =>
    page.waitForFunction((wanted) => document.querySelector('#status')?.textContent?.includes(wanted), text)
  const status = (page: Page) => page.textContent('#status')

  test('the page matches two players, and finds their server again after a reload', async () => {
    const { url, requests, shutSite } = await openSite()
    const [ann, ben] = [await visit(url), await visit(url)]
    await ann.click('#play')
    await shows(ann, 'Looking for others')
    await ben.click('#play')
    await Promise.all([shows(ann, 'Play at '), shows(ben, 'Play at ')])
    expect(await status(ann)).toMatch(/^Play at \S+:\d+$/)
    expect(await status(ben)).toBe(await status(ann))
    expect(requests.filter((one) => one.endsWith('events?token'))).toHaveLength(2)
    const before = await status(ann)
    await ann.reload()
    await shows(ann, 'Play at ')
    expect(await status(ann)).toBe(before)
    expect(await shutSite()).toEqual(nothingLeft)
  }, 60_000)

  test.each([
    ['by itself', {}, 1],
    ['with a new token where the old one has expired', { lifetimeMs: 1000 }, 2],
  ])(
    'the page goes on when the connection breaks, %s',
    async (_, streamTokens, wanted) => {
      const { url, requests, breakConnections, shutSite } = await openSite({ streamTokens })
      const count = (end: string) => requests.filter((one) => one.endsWith(end)).length
      const ann = await visit(url)
      await ann.click('#play')
      await shows(ann, 'Looking for others')
      await until('the stream has begun', () => count('/events?token') === 1)
      breakConnections()
      // After a refused stream the page asks for another with a new token.
      await until('the stream has come back', () => count('/events?token') === wanted + 1)
      expect(count('/stream-token')).toBe(wanted)
      await ann.click('#cancel')
      await shows(ann, 'Not playing (cancelled)')
      expect(await ann.isEnabled('#play')).toBe(true)
      expect(await shutSite()).toEqual(nothingLeft)
    },
    60_000,
  )
})
