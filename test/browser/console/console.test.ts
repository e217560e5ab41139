/** Tests the console's page in headless Chromium, over a fake server that plays scenes. */
/// <reference lib="dom" />
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { chromiumPath, launch } from '../chromium.js'
import { openFakeServer, type FakeServer } from './fake-server.js'
import { many, nobody, some, type Scene } from './scenes.js'
import { visit } from './visit.js'

if (chromiumPath === undefined) {
  process.stdout.write('no Chromium on this machine: the console’s page is not run (set CHROMIUM to its path)\n')
}

describe.skipIf(chromiumPath === undefined)('the console in a browser', () => {
  let browser: Browser
  const ends: (() => Promise<unknown>)[] = []
  beforeAll(async () => {
    browser = await launch()
  }, 60_000)
  afterEach(async () => {
    for (const end of ends.splice(0).toReversed()) await end()
  })
  afterAll(() => browser?.close())

  async function open(scene: Scene, role: 'look' | 'operate' | 'nobody' = 'operate') {
    const server = await openFakeServer(scene)
    ends.push(server.close)
    const visited = await visit(browser, role === 'nobody' ? server.url : `${server.url}#token=${role}-token`)
    ends.push(() => visited.page.context().close())
    return { server, ...visited }
  }
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
  const heading = (page: Page, name: string) => page.getByRole('heading', { name })
  const said = (page: Page) => page.getByRole('status').textContent()
  const actsOf = (server: FakeServer) => server.acts.filter((act) => !act.startsWith('{'))

  test('the console takes a token from the URL, removes it from the address bar, and keeps it in the tab', async () => {
    const { page, server, complaints } = await open(some)
    await heading(page, 'World').waitFor()
    expect(page.url()).toBe(server.url)
    expect(await page.title()).toBe('Now – my-game – Muster')
    const kept = await page.evaluate(() => [
      Object.values(sessionStorage),
      Object.values(localStorage),
      document.cookie,
    ])
    expect(kept).toEqual([['operate-token'], [], ''])
    await page.reload()
    await heading(page, 'World').waitFor()
    await button(page, 'Sign out').click()
    await heading(page, 'Sign in').waitFor()
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0)
    expect(await page.getByText('248').count()).toBe(0)
    expect(complaints).toEqual([])
  })

  test('the console ignores a token in a link while it has a token, until its token is refused', async () => {
    const { page, server } = await open(some, 'look')
    await page.getByText('may look').waitFor()
    await page.goto(`${server.url}#token=operate-token`)
    await page.reload()
    await page.goto(`${server.url}#token=operate-token`)
    await page.getByText('may look').waitFor()
    expect([page.url(), await page.evaluate(() => Object.values(sessionStorage))]).toEqual([server.url, ['look-token']])
    await page.evaluate(() => sessionStorage.setItem(Object.keys(sessionStorage)[0] as string, 'wrong-token'))
    await page.goto('about:blank')
    await page.goto(`${server.url}#token=operate-token`)
    await page.getByText('may operate').waitFor()
  })

  test('the console says that a token is wrong, and accepts another token that is typed', async () => {
    const { page } = await open(some, 'nobody')
    const field = page.getByLabel('Token')
    await field.fill('wrong')
    await button(page, 'Sign in').click()
    await page.getByRole('alert').filter({ hasText: 'does not know this token' }).waitFor()
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0)
    await field.fill(' look-token ')
    await field.press('Enter')
    await heading(page, 'World').waitFor()
    expect(await page.getByText('may look').count()).toBe(1)
  })

  test.each<[string, Scene, string, string]>([
    ['no players', nobody, '0', 'nobody waits'],
    ['some players', some, '248', 'longest 59 s'],
    ['10,000 players', many, '10,000', 'longest 59 s'],
  ])('the view Now of the console shows %s', async (_, scene, players, note) => {
    const { page, complaints } = await open(scene)
    const total = page.locator('.total.waiting')
    await total.waitFor()
    expect([await total.locator('b').textContent(), await total.locator('dd small').textContent()]).toEqual([
      players,
      note,
    ])
    const row = page.getByRole('row', { name: /^ranked-5v5/ })
    await row.getByRole('link').click()
    await heading(page, 'ranked-5v5 the last hour').waitFor()
    expect(await page.locator('.plot-area canvas').count()).toBe(3)
    await page.getByText('The map as tables').click()
    await page.locator('.places-tables').waitFor()
    const tables = page.locator('.places-tables tbody tr')
    expect((await tables.count()) > 0).toBe(scene !== nobody)
    expect(await page.locator('.map-words').count()).toBe(scene === nobody ? 1 : 0)
    expect(complaints).toEqual([])
  })

  test('the console keeps the last data, greyed, while the server is away, and announces that once', async () => {
    const { page, server, complaints } = await open(some)
    await page.locator('.heard.live').waitFor()
    await page.evaluate(() => {
      const told: string[] = []
      Object.assign(globalThis, { told })
      const region = document.querySelector('[role=status]') as HTMLElement
      new MutationObserver(() => told.push(region.textContent ?? '')).observe(region, {
        characterData: true,
        childList: true,
        subtree: true,
      })
    })
    await server.goAway()
    await page.getByText(/^Last seen [1-9]\d* s ago$/).waitFor()
    expect(await page.locator('main.stale .total.waiting b').textContent()).toBe('248')
    expect(await button(page, '1,000').isDisabled()).toBe(true)
    server.show({ ...some, players: 300 })
    await server.comeBack()
    await page.locator('.heard.live').waitFor()
    await page.getByLabel('Totals').getByText('300', { exact: true }).waitFor()
    expect(await page.locator('main.stale').count()).toBe(0)
    await page.waitForFunction(() => (globalThis as unknown as { told: string[] }).told.length > 1)
    expect(await page.evaluate(() => (globalThis as unknown as { told: string[] }).told)).toEqual([
      'The server does not answer. The page is out of date.',
      'The server answers again.',
    ])
    expect(complaints).toEqual([])
  })

  test('the console opens the story of an id, links stories to each other, and follows the back button', async () => {
    const { page } = await open(some)
    await heading(page, 'World').waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('ticket-4711')
    await page.keyboard.press('Enter')
    await heading(page, 'ticket ticket-4711').waitFor()
    expect(await page.getByRole('listitem').filter({ hasText: 'declined' }).count()).toBe(1)
    expect(await page.getByText('It waits for a healer').count()).toBe(1)
    await page.getByLabel('Belongs to').getByRole('link', { name: 'match match-7f3a91c2' }).click()
    await heading(page, 'match match-7f3a91c2').waitFor()
    expect(new URL(page.url()).hash).toBe('#/find/match-7f3a91c2')
    await page.goBack()
    await heading(page, 'ticket ticket-4711').waitFor()
    await page.getByRole('searchbox').fill('nobody-knows')
    await button(page, 'Find').click()
    await heading(page, 'Nothing was found for this id').waitFor()
    await page.goBack()
    await page.goBack()
    await heading(page, 'World').waitFor()
  })

  test('the console asks an operator once for confirmation, and shows the outcome', async () => {
    const { page, server, go } = await open(some)
    await go('#/find/ticket-4711')
    const cancel = button(page, 'Cancel the ticket')
    await cancel.click()
    const dialog = page.getByRole('dialog', { name: 'Cancel ticket ticket-4711?' })
    await dialog.waitFor()
    expect(await dialog.evaluate((element) => element.contains(document.activeElement))).toBe(true)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    expect(await cancel.evaluate((element) => element === document.activeElement)).toBe(true)
    expect(server.acts).toEqual([])
    await cancel.click()
    await dialog.getByRole('button', { name: 'Cancel the ticket' }).click()
    await page.getByText('cancelled by an operator').waitFor()
    expect(await said(page)).toContain('ticket-4711')
    for (const [id, verb] of [
      ['match-7f3a91c2', 'Stop the match'],
      ['ann', 'Forgive the cooldown'],
    ] as const) {
      await go(`#/find/${id}`)
      await button(page, verb).click()
      await page.getByRole('dialog').getByRole('button', { name: verb }).click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    }
    await go('#/queues/social')
    await button(page, 'Pause').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Pause the queue' }).click()
    await button(page, 'Resume').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Resume the queue' }).click()
    await button(page, 'Pause').waitFor()
    await go('#/now')
    await button(page, '1,000').click()
    await page.getByText('1,000 bots arrive.').first().waitFor()
    expect(actsOf(server)).toEqual([
      'POST tickets/ticket-4711/cancel',
      'POST matches/match-7f3a91c2/stop',
      'POST players/ann/forgive',
      'POST queues/social/pause',
      'POST queues/social/resume',
      'POST bots',
    ])
    expect(server.acts.at(-1)).toBe('{"players":1000}')
  })

  test('the console offers no operations to a caller with the role look', async () => {
    const { page, server, go } = await open(some, 'look')
    await heading(page, 'World').waitFor()
    expect(await button(page, '1,000').isDisabled()).toBe(true)
    await go('#/find/ticket-4711')
    await page.getByText('Your role may look only.').waitFor()
    await go('#/queues/duel')
    await page.getByText('Your role may try changes, but not apply them.').waitFor()
    expect(await page.getByRole('button').allTextContents()).not.toContain('Apply')
    expect(await button(page, 'Pause').count()).toBe(0)
    await button(page, 'Try on the last hour').click()
    await heading(page, 'What the last hour would have been').waitFor()
    expect(server.acts).toEqual([])
  })

  test('the console edits a rule: shows errors at their lines, runs and cancels a trial, and applies it', async () => {
    const { page, server, go } = await open(some)
    await go('#/queues/duel')
    const yaml = page.getByRole('textbox', { name: 'duel as YAML' })
    const before = await yaml.inputValue()
    expect(await button(page, 'Apply').isDisabled()).toBe(true)

    await yaml.fill(before.replace('kind: difference', 'kind: nonsense'))
    await button(page, 'Try on the last hour').click()
    await button(page, 'Line 9, column 11').click()
    expect(await page.locator('.yaml-lines .fault').textContent()).toBe('9')
    const place = await yaml.evaluate((field: HTMLTextAreaElement) => field.value.slice(field.selectionStart))
    expect(place.startsWith('nonsense')).toBe(true)

    await yaml.fill(before.replace('value: 2000', 'value: 4000'))
    expect(await page.locator('.yaml-lines .fault').count()).toBe(0)
    await go('#/now')
    await heading(page, 'World').waitFor()
    await go('#/queues/duel')
    expect(await yaml.inputValue()).toContain('value: 4000')
    await button(page, 'Try on the last hour').click()
    await page.getByRole('progressbar').waitFor()
    await button(page, 'Cancel').click()
    await page.getByRole('progressbar').waitFor({ state: 'detached' })
    await button(page, 'Try on the last hour').click()
    await heading(page, 'What the last hour would have been').waitFor()
    expect(await page.getByRole('row', { name: /^Wait p50/ }).textContent()).toContain('−0.6 s')

    await button(page, 'Apply').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Apply the change' }).click()
    await page.getByText('The change is saved in the configuration file.').waitFor()
    await heading(page, 'duel version 5').waitFor()
    expect(await page.getByText('3 tickets had to be cancelled').count()).toBe(1)
    expect(await yaml.inputValue()).toContain('value: 4000')
    expect(server.acts).toEqual(['DELETE trials/one', 'PUT queues/duel'])
    await go('#/queues/ranked-5v5')
    await page.getByText('stands in no file').waitFor()
    expect(await button(page, 'Apply').count()).toBe(0)
  })

  test('the console can be used entirely by keyboard, without a focus trap', async () => {
    const { page } = await open(some)
    await heading(page, 'World').waitFor()
    await page.keyboard.press('Tab')
    const focused = () =>
      page.evaluate(() => {
        const element = document.activeElement as HTMLElement
        const { width, height } = element.getBoundingClientRect()
        return { name: element.textContent?.trim() ?? '', tag: element.tagName, isSeen: width > 1 && height > 1 }
      })
    expect(await focused()).toMatchObject({ name: 'To the content', isSeen: true })
    const seen: string[] = []
    for (let presses = 0; presses < 60 && seen.at(-1) !== 'BODY'; presses++) {
      await page.keyboard.press('Tab')
      const { tag, isSeen } = await focused()
      expect(isSeen || tag === 'BODY', tag).toBe(true)
      seen.push(tag)
    }
    expect(seen.at(-1)).toBe('BODY')
    expect(new Set(seen)).toEqual(new Set(['A', 'INPUT', 'BUTTON', 'UL', 'SUMMARY', 'BODY']))
  })

  test('the console follows the colour scheme of the system until one is chosen, and keeps the choice', async () => {
    const { page } = await open(some)
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    const [light, dark] = ['rgb(244, 246, 248)', 'rgb(14, 19, 26)']
    expect(await ground()).toBe(light)
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await ground()).toBe(dark)
    await button(page, 'Colours: as the system').click()
    expect(await ground()).toBe(light)
    await page.reload()
    expect(await ground()).toBe(light)
    await button(page, 'Colours: light').click()
    await button(page, 'Colours: dark').click()
    await page.emulateMedia({ colorScheme: 'light' })
    expect(await ground()).toBe(light)
    expect(await page.evaluate(() => localStorage.length)).toBe(0)
  })
})
