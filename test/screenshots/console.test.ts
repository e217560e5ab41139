/// <reference lib="dom" />
import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { openFakeServer } from '../browser/console/fake-server.js'
import { many, nobody, some, tooMany, trouble, type Scene } from '../browser/console/scenes.js'
import { chromiumPath, launch } from '../browser/chromium.js'
import { smallPng } from './small-png.js'

/** All pictures show this time, so that a new picture differs only by real changes. */
const AT = Date.UTC(2026, 5, 12, 14, 20)
const LARGEST = 200_000
/** If set, only pictures whose names begin with this text are taken. */
const only = process.env['SCREENSHOTS_OF'] ?? ''
const folder = process.env['SCREENSHOTS_TO'] ?? fileURLToPath(new URL('../../docs/console/', import.meta.url))

interface Shot {
  readonly name: string
  readonly scene: Scene
  readonly hash?: string
  readonly role?: 'look' | 'operate'
  readonly act?: (page: Page, goAway: () => Promise<void>) => Promise<void>
}

const tryRule = async (page: Page) => {
  const field = page.getByRole('textbox', { name: 'duel as YAML' })
  await field.fill((await field.inputValue()).replace('value: 2000', 'value: 4000'))
  await page.getByRole('button', { name: 'Try on the last hour' }).click()
  await page.getByText('What the last hour would have been').waitFor()
}
const shots: readonly Shot[] = [
  { name: 'now', scene: many },
  { name: 'now-nobody', scene: nobody },
  { name: 'now-too-many', scene: tooMany },
  { name: 'now-trouble', scene: trouble(AT) },
  {
    name: 'now-away',
    scene: some,
    act: async (page, goAway) => {
      await goAway()
      await page.locator('.heard.away').filter({ hasText: 'Last seen' }).waitFor()
      await page.waitForTimeout(3000)
    },
  },
  { name: 'find', scene: some, hash: '#/find/ticket-4711' },
  { name: 'servers', scene: some, hash: '#/servers' },
  { name: 'server-story', scene: some, hash: '#/find/c41d09' },
  { name: 'queues', scene: some, hash: '#/queues/duel' },
  { name: 'queues-trial', scene: some, hash: '#/queues/duel', act: tryRule },
  {
    name: 'operate',
    scene: some,
    hash: '#/find/match-7f3a91c2',
    act: async (page) => page.getByRole('button', { name: 'Stop the match' }).click(),
  },
]
const frames = [
  { width: 1400, colorScheme: 'light', suffix: '' },
  { width: 1400, colorScheme: 'dark', suffix: '-dark' },
  { width: 390, colorScheme: 'light', suffix: '-390' },
  { width: 390, colorScheme: 'dark', suffix: '-390-dark' },
] as const

async function keep(page: Page, name: string, fullPage: boolean): Promise<void> {
  await page.evaluate(() => scrollTo(0, 0))
  const png = smallPng(await page.screenshot({ fullPage }))
  expect(png.length, name).toBeLessThan(LARGEST)
  writeFileSync(`${folder}/${name}.png`, png)
}

test('the screenshots of every console view are written', async () => {
  expect(chromiumPath, 'no Chromium on this machine').toBeDefined()
  mkdirSync(folder, { recursive: true })
  const browser = await launch()
  for (const { name, scene, hash = '#/now', role = 'operate', act } of shots) {
    for (const { width, colorScheme, suffix } of frames) {
      if (!`${name}${suffix}`.startsWith(only)) continue
      const server = await openFakeServer(scene, { at: AT })
      const context = await browser.newContext({
        viewport: { width, height: width === 390 ? 844 : 900 },
        colorScheme,
        timezoneId: 'Europe/Berlin',
        reducedMotion: 'reduce',
      })
      const page = await context.newPage()
      await page.goto(`${server.url}#token=${role}-token`)
      await page.getByText('Players waiting').first().waitFor()
      await page.goto(server.url + hash)
      await page.waitForTimeout(400)
      await act?.(page, server.goAway)
      // A dialog covers only the window, so the picture shows the window instead of the whole page.
      await keep(page, `${name}${suffix}`, name !== 'operate')
      await context.close()
      await server.close()
    }
  }
  await browser.close()
})

test('the screenshot of the page that asks for a token is written', async () => {
  const browser = await launch()
  const server = await openFakeServer(some, { at: AT })
  const page = await (await browser.newContext({ viewport: { width: 1400, height: 700 } })).newPage()
  await page.goto(`${server.url}#token=wrong`)
  await page.getByText('does not know this token').waitFor()
  expect(new URL(page.url()).hash).toBe('')
  await keep(page, 'sign-in', true)
  await browser.close()
  await server.close()
})
