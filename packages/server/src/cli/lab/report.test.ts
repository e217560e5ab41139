import { figuresOf, generateCrowd, reportText, RESULT_FORMAT, runCrowd, type LabResult } from '@muster/lab'
import { defineQueue } from '@muster/matchmaker'
import { expect, test } from 'vitest'
import { inFolder } from '../in-folder.fixture.js'

const { run, read, file } = inFolder()

const lab = (args: string) => run(['lab', ...args.split(' ')])

/** Creates the result that `muster lab run --out` writes for a small crowd, without threads. */
async function savedResult(): Promise<LabResult> {
  const queue = defineQueue({ name: 'duel', teams: [{ name: 'side', count: 2, size: 1 }], deploy })
  const crowd = generateCrowd({ players: 12, hours: 0.05 })
  const figures = figuresOf(crowd, await runCrowd(crowd, [queue], {}), { queues: [queue] })
  return {
    format: RESULT_FORMAT,
    crowd: { name: 'crowd.ndjson', players: 12, parties: crowd.parties.length, startsAt: 0, durationMs: 180_000 },
    seeds: [1, 2],
    variants: [
      { name: 'a.yaml', queues: [{ name: 'duel', sentences: [] }], pools: [], runs: [{ figures }, { figures }] },
    ],
  }
}

const deploy = { application: 'game', version: '1' }

test('muster lab report shows a saved result as a table, as JSON and as a page', async () => {
  const result = await savedResult()
  await file('r.json', JSON.stringify(result))
  const told = await lab('report r.json --html r.html')
  expect([told.code, told.err, told.out]).toEqual([0, '', `${reportText(result)}\n`])
  const page = await read('r.html')
  expect(page).toMatch(/^<!doctype html>[^]*<h1>What a queue does<\/h1>[^]*<\/html>\s*$/)
  expect(await lab('report r.json --html none/r.html')).toMatchObject({ code: 1, out: '' })
  const { out } = await lab('report r.json --json')
  expect(JSON.parse(out)).toEqual({ ...(JSON.parse(JSON.stringify(result)) as object), comparisons: [] })
  // The output of --json can be read as a result too.
  await file('again.json', out)
  expect((await lab('report again.json')).out).toBe(told.out)
})

test.each([
  ['none.json', 'none.json: error: does not exist'],
  ['torn.json', 'torn.json: error: is not JSON: line 1, column'],
  ['other.json', 'other.json: error: is not a result of muster lab run --out'],
  ['', "error: missing required argument 'result'"],
])('muster lab report refuses an invalid input: %s', async (args, words) => {
  await file('torn.json', '{"format":')
  await file('other.json', '{}')
  const { code, out, err } = await lab(`report ${args}`.trim())
  expect([code, out]).toEqual([2, ''])
  expect(err).toContain(words)
})
