/// <reference lib="dom" />
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { figuresOf, generateCrowd, reportHtml, RESULT_FORMAT, runCrowd, type LabResult } from '@muster/lab'
import { defineQueue, describeQueue, type Queue, type RelaxationStep } from '@muster/matchmaker'
import { expect, test } from 'vitest'
import { chromiumPath, launch } from '../browser/chromium.js'
import { smallPng } from './small-png.js'

const LARGEST = 200_000
const folder = process.env['SCREENSHOTS_TO'] ?? fileURLToPath(new URL('../../docs/rule-lab/', import.meta.url))
const SEEDS = [7, 8, 9]

const steps = (...pairs: readonly (readonly [seconds: number, value: number])[]): RelaxationStep[] =>
  pairs.map(([seconds, value]) => ({ afterMs: seconds * 1000, value }))

const queue = (maxMs: RelaxationStep[], max: RelaxationStep[]): Queue =>
  defineQueue({
    name: 'ranked',
    teams: [{ name: 'team', count: 2, size: 3 }],
    rules: [
      { kind: 'latency', maxMs },
      { kind: 'difference', attribute: 'skill', max },
      { kind: 'balance', attribute: 'skill', max: 100 },
    ],
    deploy: { application: 'game', version: '1' },
  })

/** Two schedules of one queue over the same crowds. */
async function result(): Promise<LabResult> {
  const queues = {
    'strict.yaml': queue(steps([0, 60], [20, 90], [60, 150]), steps([0, 100], [15, 200], [45, 400])),
    'relaxed.yaml': queue(steps([0, 80], [10, 150]), steps([0, 150], [10, 400], [30, 800])),
  }
  const variants: LabResult['variants'][number][] = []
  for (const [name, one] of Object.entries(queues)) {
    const runs: LabResult['variants'][number]['runs'][number][] = []
    for (const seed of SEEDS) {
      const crowd = generateCrowd(CROWD, seed)
      runs.push({ figures: figuresOf(crowd, await runCrowd(crowd, [one], { seed }), { queues: [one] }) })
    }
    variants.push({ name, queues: [{ name: one.name, sentences: describeQueue(one).sentences }], pools: [], runs })
  }
  const { header, parties } = generateCrowd(CROWD, SEEDS[0])
  const { startsAt, durationMs } = header
  return {
    format: RESULT_FORMAT,
    crowd: { name: 'crowd.ndjson', players: CROWD.players, parties: parties.length, startsAt, durationMs },
    seeds: SEEDS,
    variants,
  }
}

const CROWD = { players: 1500, hours: 2 }

test('the screenshots of a lab report are written', { timeout: 600_000 }, async () => {
  expect(chromiumPath, 'no Chromium on this machine').toBeDefined()
  mkdirSync(folder, { recursive: true })
  const scratch = mkdtempSync(join(tmpdir(), 'muster-report-'))
  const file = join(scratch, 'report.html')
  writeFileSync(file, await reportHtml(await result()))
  const browser = await launch()
  for (const [name, colorScheme, section] of [
    ['report', 'light', undefined],
    ['report-plots-dark', 'dark', '#waiting'],
  ] as const) {
    const page = await (await browser.newContext({ colorScheme, viewport: { width: 1100, height: 1000 } })).newPage()
    await page.goto(pathToFileURL(file).href)
    if (section !== undefined) await page.evaluate((id) => document.querySelector(id)?.scrollIntoView(), section)
    const png = smallPng(await page.screenshot())
    expect(png.length, name).toBeLessThan(LARGEST)
    writeFileSync(join(folder, `${name}.png`), png)
  }
  await browser.close()
  rmSync(scratch, { recursive: true })
})
