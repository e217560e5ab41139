import { readFile } from 'node:fs/promises'
import type { Figures } from '@muster/lab'
import type { MeasuredRun, TunedCrowd } from '@muster/lab/internal'
import { defineQueue } from '@muster/matchmaker'
import { expect, test } from 'vitest'
import { inFolder } from '../in-folder.fixture.js'
import { finishTuned } from './tune.js'
import { readQueues } from './lab-input.js'

const { shown, read, file, path } = inFolder()

const QUEUES = (max: number) => `queues:
  - name: duel # two
    matchSize: 2
    rules: [{ kind: difference, attribute: skill, max: ${max} }]
`

const run = (waitP90Ms: number, cost = 1): MeasuredRun => ({ cost, waitP90Ms, gaveUp: 0.01, figures: {} as Figures })

/** Creates a result that raises a limit from 100 to 200. */
function tunedOf(change: Partial<TunedCrowd> = {}): TunedCrowd {
  const is = 200
  const queue = defineQueue({
    name: 'duel',
    matchSize: 2,
    rules: [{ kind: 'difference', attribute: 'skill', max: is }],
    deploy: { application: 'lab', version: 'lab' },
  })
  return {
    promises: { waitP90Ms: 30_000, gaveUp: 0.05 },
    trainingSeeds: [1, 2],
    unseenSeeds: [3, 4],
    changes: [{ path: ['rules', 0, 'max'], name: 'difference skill', isWait: false, was: 100, is }],
    leftAlone: [],
    queue,
    possible: true,
    ownIsBest: false,
    own: { training: [run(20_000, 2), run(20_000, 2)], unseen: [run(20_000, 2), run(20_000, 2)] },
    best: { training: [run(29_000), run(29_000)], unseen: [run(28_000), run(29_500)] },
    loosest: [run(1000, 9), run(1000, 9)],
    front: [],
    tried: 7,
    runs: 60,
    quality: [{ name: 'difference skill', what: 'skillSpread', per: 100 }],
    ...change,
  }
}

async function finish(tuned: TunedCrowd, options: Parameters<typeof finishTuned>[3], meanwhile?: string) {
  await file('a.yaml', QUEUES(100))
  const queues = await readQueues('a.yaml', path())
  if (meanwhile !== undefined) await file('a.yaml', meanwhile)
  const told = await shown((terminal) => finishTuned(tuned, queues, 'crowd.ndjson', options, terminal))
  return { ...told, text: await read('a.yaml') }
}

test('a search result of muster lab tune is reported with a patch, and written on request', async () => {
  const told = await finish(tunedOf(), {})
  expect(told).toMatchObject({ code: 0, err: '', text: QUEUES(100) })
  expect(told.out).toContain('\n+    rules: [{ kind: difference, attribute: skill, max: 200 }]\n')
  const written = await finish(tunedOf(), { write: true })
  expect(written).toMatchObject({ code: 0, err: 'a.yaml is changed.\n', text: QUEUES(200) })
  expect(written.out).not.toContain('+++')
})

test('a search result that fails on unseen seeds is reported, but not written into the file', async () => {
  const best = { training: [run(29_000), run(29_000)], unseen: [run(28_000), run(33_000)] }
  const { code, out, err, text } = await finish(tunedOf({ best }), { write: true, patch: path('a.diff') })
  expect({ code, text }).toEqual({ code: 1, text: QUEUES(100) })
  expect(err).toBe('a.yaml stays as it is: the promises are not kept.\n')
  expect(out).toContain(
    'not on average of the unseen: 90 % of the matched find their match within 30.5 s instead of 30 s',
  )
  expect(await read('a.diff')).toContain('+++ b/a.yaml')
})

test('muster lab tune writes nothing if no schedule keeps the promises', async () => {
  const best = { training: [run(40_000), run(36_000)], unseen: [run(38_000), run(39_000)] }
  const patch = path('a.diff')
  const { code, out, text } = await finish(tunedOf({ best, possible: false }), { write: true, patch })
  expect({ code, text }).toEqual({ code: 1, text: QUEUES(100) })
  expect(out).toContain('With it, 90 % of the matched find their match within 40 s instead of 30 s, 33.3 % too much')
  expect(out).toContain(
    'With every limit at its loosest from the start on, 90 % of the matched find their match within 1 s',
  )
  await expect(readFile(patch)).rejects.toThrow('ENOENT')
})

test('muster lab tune does not overwrite a file that changed during the search', async () => {
  const theirs = QUEUES(150)
  await expect(finish(tunedOf(), { write: true }, theirs)).rejects.toThrow('a.yaml has changed since it was read')
  expect(await read('a.yaml')).toBe(theirs)
})

test('the HTML page of muster lab tune shows the sentences, the Pareto front and the changed limits', async () => {
  const point = (waitP90Ms: number, cost: number) => ({ waitP90Ms, cost, gaveUp: 0.01, keepsGaveUp: true, keeps: true })
  const front = [
    point(10_000, 3),
    { ...point(29_000, 1), is: 'best' as const },
    { ...point(20_000, 2), is: 'own' as const },
  ]
  const { code } = await finish(tunedOf({ front }), { html: 'tune.html' })
  const page = await read('tune.html')
  expect(code).toBe(0)
  expect(page).toContain('duel of a.yaml, tuned for crowd.ndjson')
  expect(page).toContain('It keeps the promises on 2 of 2 unseen seeds')
  expect(page).toContain('difference skill: 200; it was 100.')
  expect(page).toContain('<svg')
  expect(page).toContain('+    rules: [{ kind: difference, attribute: skill, max: 200 }]')
})
