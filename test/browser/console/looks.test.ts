/** Tests the console's page in headless Chromium for accessibility, layout shifts and speed. */
/// <reference lib="dom" />
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chromiumPath, launch } from '../chromium.js'
import { openFakeServer } from './fake-server.js'
import { follower, many, nobody, some, tooMany, trouble, type Scene } from './scenes.js'
import { visit } from './visit.js'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Violation {
  readonly id: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[]
}
type WithAxe = typeof globalThis & {
  readonly axe: { run: (options: object) => Promise<{ violations: readonly Violation[] }> }
}

/** Returns a summary of the violations that axe finds with all its rules. */
async function violationsOf(page: Page): Promise<readonly string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe)
  const violations = await page.evaluate(
    async () => (await (globalThis as WithAxe).axe.run({ resultTypes: ['violations'] })).violations,
  )
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary ?? ''}`),
  )
}

const now: readonly (readonly [name: string, scene: Scene])[] = [
  ['nobody', nobody],
  ['some', some],
  ['many', many],
  ['too many', tooMany],
  ['follower', follower],
  ['trouble', trouble(Date.now())],
]
const schemes = ['light', 'dark'] as const
const grounds = { light: 'rgb(244, 246, 248)', dark: 'rgb(14, 19, 26)' } as const

describe.skipIf(chromiumPath === undefined)('the layout of the console', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  }, 60_000)
  afterAll(() => browser?.close())

  // Each view changes its colours in place, because opening the views once more costs more CPU.
  test.each([1400, 390])(
    'the console is accessible and fits in every view, %d pixels wide, light and dark',
    async (width) => {
      const server = await openFakeServer(some)
      const viewport = { width, height: 900 }
      const { page, go, complaints } = await visit(browser, server.url, { viewport, bypassCSP: true })
      const found: Record<string, readonly string[]> = {}
      const look = async (name: string) => {
        for (const colorScheme of schemes) {
          await page.emulateMedia({ colorScheme })
          found[`${name}, ${colorScheme}`] = await violationsOf(page)
          const [ground, over] = await page.evaluate(() => [
            getComputedStyle(document.body).backgroundColor,
            document.documentElement.scrollWidth - innerWidth,
          ])
          expect(ground).toBe(grounds[colorScheme])
          if (Number(over) > 0) found[`${name}, ${colorScheme}, is too wide by`] = [String(over)]
        }
      }
      await look('sign in')
      await page.getByLabel('Token').fill('operate-token')
      await page.keyboard.press('Enter')
      for (const [name, scene] of now) {
        server.show(scene)
        await page.getByText(scene.players.toLocaleString('en-US'), { exact: true }).first().waitFor()
        await look(`now, ${name}`)
        if (scene.leader !== undefined) await page.getByText(`${scene.leader} matches.`).waitFor()
      }
      await page.getByText('The map as tables').click()
      await look('now with tables')
      for (const id of ['', '/ticket-4711', '/ann', '/c41d09', '/nobody-knows']) {
        await go(`#/find${id}`)
        await page.locator('.stories:not([aria-busy=true]) h2').first().waitFor()
        await look(`find${id}`)
      }
      await go('#/find/match-7f3a91c2')
      await page.getByRole('button', { name: 'Stop the match' }).click()
      await look('the question')
      await page.keyboard.press('Escape')
      await go('#/servers')
      await page.getByRole('heading', { name: '8 servers' }).waitFor()
      await page.getByText('11 of 16 seats taken, 2 held').waitFor()
      await look('servers')
      await page.getByRole('button', { name: 'Drain c41d09.pr.example.com' }).click()
      await page.getByRole('heading', { name: 'Drain server c41d09.pr.example.com?' }).waitFor()
      await look('the question of a server')
      await page.keyboard.press('Escape')
      await go('#/changes')
      await page.getByRole('cell', { name: 'stopped a match' }).waitFor()
      await look('changes')
      await go('#/queues/duel')
      const yaml = page.getByRole('textbox', { name: 'duel as YAML' })
      await yaml.fill((await yaml.inputValue()).replace('kind: difference', 'kind: nonsense'))
      await page.getByRole('button', { name: 'Try on the last hour' }).click()
      await page.getByRole('button', { name: 'Line 9, column 11' }).waitFor()
      await look('queues with a fault')
      await yaml.fill((await yaml.inputValue()).replace('nonsense', 'difference'))
      await page.getByRole('button', { name: 'Try on the last hour' }).click()
      await page.getByRole('progressbar').waitFor()
      await look('queues with a trial that runs')
      await page.getByText('What the last hour would have been').waitFor()
      await look('queues with a trial')
      await go('#/now')
      await server.goAway()
      await page.locator('.heard.away').filter({ hasText: 'Last seen' }).waitFor()
      await look('away')
      expect(Object.fromEntries(Object.entries(found).filter(([, faults]) => faults.length > 0))).toEqual({})
      expect(complaints).toEqual([])
      await page.context().close()
      await server.close()
    },
  )

  test.each([1400, 390])(
    'the console layout does not shift while figures appear and change, %d pixels wide',
    async (width) => {
      const server = await openFakeServer(nobody)
      const { page, go } = await visit(browser, `${server.url}#token=operate-token`, {
        viewport: { width, height: 900 },
      })
      await page.locator('.totals').waitFor()
      await page.evaluate(() => {
        const shifts: { value: number; what: readonly string[] }[] = []
        Object.assign(globalThis, { shifts })
        type Shift = PerformanceEntry & { value: number; sources: readonly { node?: Element }[] }
        const observer = new PerformanceObserver((list) => {
          for (const { value, sources } of list.getEntries() as unknown as readonly Shift[]) {
            shifts.push({ value, what: sources.map(({ node }) => String(node?.className ?? node?.nodeName)) })
          }
        })
        observer.observe({ type: 'layout-shift' })
      })
      for (const scene of [some, trouble(Date.now()), tooMany, many, nobody]) {
        server.show(scene)
        await page.getByText(scene.players.toLocaleString('en-US'), { exact: true }).first().waitFor()
        await page.waitForTimeout(700)
      }
      await go('#/find/ticket-4711')
      await page.getByText('It waits for a healer').waitFor()
      const shifts = await page.evaluate(
        () => (globalThis as unknown as { shifts: { value: number; what: readonly string[] }[] }).shifts,
      )
      // A layout shift of 0.1 counts as good. Most of the measured shift comes from the list of servers and limits at
      // the end of the page.
      expect(
        shifts.reduce((sum, { value }) => sum + value, 0),
        JSON.stringify(shifts),
      ).toBeLessThan(0.02)
      await page.context().close()
      await server.close()
    },
  )

  test('the console shows 10,000 queued players and 500 matches with frames below 50 ms, in under 50 MB', async () => {
    const server = await openFakeServer(many)
    const { page } = await visit(browser, `${server.url}#token=look-token`, { viewport: { width: 1400, height: 900 } })
    await page.locator('.mark-waiting').first().waitFor()
    await page.waitForTimeout(1500)
    const longest = await longestTask(browser, page, 5000)
    const session = await page.context().newCDPSession(page)
    await session.send('HeapProfiler.collectGarbage')
    await session.send('Performance.enable')
    const { metrics } = await session.send('Performance.getMetrics')
    const heap = metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? Infinity
    process.stdout.write(`console: longest task ${longest.toFixed(1)} ms, heap ${(heap / 1e6).toFixed(1)} MB\n`)
    expect(longest).toBeGreaterThan(0)
    expect(longest).toBeLessThan(50)
    expect(heap).toBeLessThan(50e6)
    await page.context().close()
    await server.close()
  })
})

interface TraceEvent {
  readonly name: string
  readonly ph: string
  readonly pid: number
  readonly tid: number
  /** Microseconds of the thread's own work, without the work of other threads. */
  readonly tdur?: number
  readonly args: { readonly name?: string }
}

/** Returns the duration of the longest task of the page's main thread in milliseconds. No frame can take longer. */
async function longestTask(browser: Browser, page: Page, ms: number): Promise<number> {
  await browser.startTracing(page, { categories: ['devtools.timeline', 'toplevel'] })
  await page.waitForTimeout(ms)
  const { traceEvents } = JSON.parse(String(await browser.stopTracing())) as { traceEvents: readonly TraceEvent[] }
  const threadOf = ({ pid, tid }: TraceEvent) => `${pid} ${tid}`
  const isMain = (event: TraceEvent) => event.name === 'thread_name' && event.args.name === 'CrRendererMain'
  const mains = new Set(traceEvents.filter(isMain).map(threadOf))
  const tasks = traceEvents.filter((event) => event.ph === 'X' && mains.has(threadOf(event)))
  return Math.max(0, ...tasks.map(({ tdur = 0 }) => tdur)) / 1000
}
