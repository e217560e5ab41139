/** Tests the page of docs/game-clients.md in headless Chromium. */
/// <reference lib="dom" />
import { systemClock } from '@muster/core/clock'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { nothingLeft, until } from '../matchmaker/studio.js'
import { chromiumPath, launch } from './chromium.js'
import { openSite } from './page.js'

if (chromiumPath === undefined) {
  process.stdout.write(
    'no Chromium on this machine: the page of docs/game-clients.md is not run (set CHROMIUM to its path)\n',
  )
}

describe.skipIf(chromiumPath === undefined)('the example page of a game client', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  }, 60_000)
  afterAll(() => browser?.close())

  const visit = async (url: string) => {
    const page = await (await browser.newContext()).newPage()
    await page.goto(url)
    await page.waitForSelector('#play:visible')
    return page
  }
  const shows = (page: Page, text: string) =>
    page.waitForFunction((wanted) => document.querySelector('#status')?.textContent?.includes(wanted), text)
  const status = (page: Page) => page.textContent('#status')

  test('the example page of a game client matches two players, and finds their server after a reload', async () => {
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
    // The page keeps no state: a second page of the same player finds the match too.
    const second = await ann.context().newPage()
    await second.goto(url)
    await shows(second, 'Play at ')
    expect(await status(second)).toBe(before)
    expect(await shutSite()).toEqual(nothingLeft)
  }, 60_000)

  test('the example page of a game client lets its player accept, and searches again if others do not', async () => {
    const { url, shutSite } = await openSite({}, { acceptance: { withinMs: 60_000 }, cooldown: { for: [] } })
    const [ann, ben] = [await visit(url), await visit(url)]
    for (const page of [ann, ben]) await page.click('#play')
    for (const page of [ann, ben]) await page.waitForSelector('#accept:visible')
    await ann.click('#accept')
    await shows(ann, 'Waiting for the others')
    await ann.reload()
    await shows(ann, 'Waiting for the others')
    await ben.click('#decline')
    await shows(ben, 'Not playing (declined)')
    await shows(ann, 'Looking for others')
    await ben.click('#play')
    for (const page of [ann, ben]) await page.click('#accept')
    await Promise.all([shows(ann, 'Play at '), shows(ben, 'Play at ')])
    expect(await status(ann)).toBe(await status(ben))
    expect(await shutSite()).toEqual(nothingLeft)
  }, 60_000)

  test('the example page of a game client makes a group, which friends join by a link to play together', async () => {
    const { url, matchmaker, shutSite } = await openSite({}, { matchSize: 3 })
    const [ann, ben, cas] = [await visit(url), await visit(url), await visit(url)]
    await ann.click('#invite')
    await shows(ann, 'Invite by ')
    const link = /http\S+$/.exec((await status(ann)) ?? '')?.[0] ?? ''
    await ben.goto(link)
    await ben.reload()
    await shows(ben, 'Invite by ')
    expect(await ben.isVisible('#ready')).toBe(false)
    // A reloaded page is still in the group.
    await ann.reload()
    await shows(ann, link)
    await ann.click('#ready')
    await Promise.all([shows(ann, 'Looking for others'), shows(ben, 'Looking for others')])
    await cas.click('#play')
    await Promise.all([ann, ben, cas].map((page) => shows(page, 'Play at ')))
    expect(matchmaker.inspect().matches.map(({ playerIds }) => playerIds.length)).toEqual([3])
    expect(await shutSite()).toEqual(nothingLeft)
  }, 60_000)

  test('the example page of a game client continues with its group after a reconnect, and leaves it', async () => {
    const { url, breakConnections, shutSite } = await openSite()
    const ann = await visit(url)
    await ann.click('#invite')
    await shows(ann, 'Invite by ')
    await ann.context().setOffline(true)
    breakConnections()
    await shows(ann, 'trying again')
    await ann.context().setOffline(false)
    await shows(ann, 'Invite by ')
    await ann.click('#cancel')
    await shows(ann, 'Not playing (cancelled)')
    expect(await shutSite()).toEqual(nothingLeft)
  }, 60_000)

  test.each([
    ['without a new token', 0, 1],
    ['with a new token if the old one has expired', 600_000, 2],
  ])(
    'the example page of a game client continues when the connection breaks, %s',
    async (_, stepMs, wanted) => {
      let wallStepMs = 0
      const clock = { ...systemClock, wallStepMs: () => wallStepMs }
      const { url, requests, breakConnections, shutSite } = await openSite({ clock })
      const count = (end: string) => requests.filter((one) => one.endsWith(end)).length
      const ann = await visit(url)
      await ann.click('#play')
      await shows(ann, 'Looking for others')
      await until('the stream has begun', () => count('/events?token') === 1)
      // The API's wall clock jumps ahead, beyond the lifetime of the token.
      wallStepMs = stepMs
      breakConnections()
      // After the server refused the stream, the page opens another with a new token.
      await until('the stream has come back', () => count('/events?token') === wanted + 1)
      expect(count('/stream-token')).toBe(wanted)
      await ann.click('#cancel')
      await shows(ann, 'Not playing (cancelled)')
      expect([await ann.isVisible('#play'), await ann.isVisible('#cancel')]).toEqual([true, false])
      expect(await shutSite()).toEqual(nothingLeft)
    },
    60_000,
  )
})
