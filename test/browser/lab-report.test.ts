/** Tests the rule lab's report of a real run in headless Chromium. */
/// <reference lib="dom" />
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { figuresOf, generateCrowd, reportHtml, RESULT_FORMAT, runCrowd, type LabResult } from '@muster/lab'
import { defineQueue, describeQueue } from '@muster/matchmaker'
import type { Browser, BrowserContextOptions } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chromiumPath, launch } from './chromium.js'

const HOSTILE = `<script>document.title = 'taken'</script><img src=x onerror="document.title = 'taken'">`

/** Runs two variants of a queue over two small crowds. */
async function result(): Promise<LabResult> {
  const seeds = [1, 2]
  const variant = async (name: string, limits: readonly number[]) => {
    const pools = [{ name: 'arena', deploy: { application: 'game', version: '1' } }]
    const max = limits.map((value, at) => ({ afterMs: at * 20_000, value }))
    const queue = defineQueue({
      name: 'duel',
      teams: [{ name: 'side', count: 2, size: { min: 1, max: 2 } }],
      rules: [{ kind: 'difference', attribute: 'skill', max, missing: 'any' }],
      deploy: { application: 'game', version: '1' },
      pool: 'arena',
    })
    const runs: { readonly figures: LabResult['variants'][number]['runs'][number]['figures'] }[] = []
    for (const seed of seeds) {
      const crowd = generateCrowd({ players: 200, hours: 0.5 }, seed)
      runs.push({ figures: figuresOf(crowd, await runCrowd(crowd, [queue], { seed, pools }), { queues: [queue] }) })
    }
    const { sentences } = describeQueue(queue)
    return { name, queues: [{ name: queue.name, sentences }], pools: [{ name: HOSTILE, sentences }], runs }
  }
  return {
    format: RESULT_FORMAT,
    crowd: { name: HOSTILE, players: 200, parties: 120, startsAt: 0, durationMs: 1_800_000 },
    seeds,
    variants: [await variant('strict.yaml', [50, 100, 200]), await variant(HOSTILE, [100, 400, 1500])],
  }
}

const LOOKS = [
  ['light', 1280],
  ['dark', 1280],
  ['dark', 360],
  ['light', 360],
] as const

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Violation {
  readonly id: string
  readonly nodes: readonly { readonly html: string }[]
}

describe.skipIf(chromiumPath === undefined)('the lab report in a browser', () => {
  let browser: Browser
  let folder: string
  let address: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'muster-report-'))
    const file = join(folder, 'report.html')
    await writeFile(file, await reportHtml(await result()))
    address = pathToFileURL(file).href
    browser = await launch()
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
    await rm(folder, { recursive: true, force: true })
  })

  /** Opens the report. Collects the browser's errors and its requests. */
  const visit = async (options: BrowserContextOptions) => {
    const page = await (await browser.newContext(options)).newPage()
    const [complaints, requests]: [string[], string[]] = [[], []]
    page.on('console', (message) => complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(String(error)))
    page.on('request', (request) => requests.push(request.url()))
    await page.goto(address)
    return { page, complaints, requests }
  }

  // One page changes its size and colours in place, because each new page costs a process.
  test('the lab report is accessible, loads only own files and fits, in each size and colour scheme', async () => {
    const { page, complaints, requests } = await visit({ viewport: { width: 1280, height: 800 } })
    expect(await page.title()).toContain('strict.yaml')
    // The report's policy forbids scripts, so axe is evaluated by the debugger, which ignores the policy.
    await page.evaluate(axe)
    for (const [colorScheme, width] of LOOKS) {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize({ width, height: 800 })
      const look = `${colorScheme} at ${width} pixels`
      expect(await page.locator('figure svg:visible').count(), look).toBe(await page.locator('figure').count())
      expect(await page.evaluate(() => document.documentElement.scrollWidth), look).toBe(width)
      const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor)
      expect(ground, look).toBe(colorScheme === 'dark' ? 'rgb(14, 19, 26)' : 'rgb(244, 246, 248)')
      const violations = await page.evaluate(async () => {
        const { axe: tool } = globalThis as unknown as {
          axe: { run: (options: object) => Promise<{ violations: readonly Violation[] }> }
        }
        return (await tool.run({ resultTypes: ['violations'] })).violations
      })
      expect(
        violations.map(({ id, nodes }) => [id, nodes.map((node) => node.html).slice(0, 3)]),
        look,
      ).toEqual([])
    }
    expect([complaints, requests]).toEqual([[], [address]])
    await page.context().close()
  })

  test('the lab report is light in print, with every plot whole on its page', async () => {
    const { page, complaints } = await visit({ colorScheme: 'dark', viewport: { width: 700, height: 990 } })
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
    const look = await page.evaluate(() => ({
      ink: getComputedStyle(document.body).color,
      breaks: [...document.querySelectorAll('figure')].map((figure) => getComputedStyle(figure).breakInside),
      wide: document.documentElement.scrollWidth,
    }))
    expect([look.ink, new Set(look.breaks), look.wide]).toEqual(['rgb(23, 32, 43)', new Set(['avoid']), 700])
    expect((await page.pdf({ format: 'A4' })).subarray(0, 5).toString()).toBe('%PDF-')
    expect(complaints).toEqual([])
  })
})
