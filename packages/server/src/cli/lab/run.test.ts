import { createManualClock } from '@muster/core/clock'
import type { LabResult } from '@muster/lab'
import { describe, expect, test } from 'vitest'
import { terminalOf } from '../terminal.js'
import { inFolder } from '../in-folder.fixture.js'
import { createProgress } from './lab-command.js'

const { run, read, file } = inFolder()

const QUEUES = (max: number) => `queues:
  - name: duel
    teams: [{ name: side, count: 2, size: 1 }]
    rules: [{ kind: difference, attribute: skill, max: ${max} }]
`

const lab = (args: string) => run(['lab', ...args.split(' ')], { env: { NO_COLOR: '1' } })

describe('muster lab run', () => {
  test('muster lab run runs a crowd through the queues of each file, and writes the result', async () => {
    await lab('crowd --players 12 --hours 0.05 --seed 7 --out crowd.ndjson')
    await file('a.yaml', QUEUES(100))
    await file('b.yaml', QUEUES(1000))
    const args = 'run crowd.ndjson -q a.yaml -q b.yaml --seeds 2 --threads 1 --server-hour 0.6EUR --json --out r.json'
    const { code, out, err } = await lab(`${args} --ratings --newcomers 1`)
    const result = JSON.parse(out) as LabResult
    expect([code, err.split('\n')]).toEqual([
      0,
      [
        '1 of 4: a.yaml with seed 7',
        '2 of 4: b.yaml with seed 7',
        '3 of 4: a.yaml with seed 8',
        '4 of 4: b.yaml with seed 8',
        '',
      ],
    ])
    expect(result).toMatchObject({
      format: 'muster-lab-result-2',
      crowd: { name: 'crowd.ndjson', players: 12, durationMs: 180_000 },
      seeds: [7, 8],
      variants: [{ name: 'a.yaml', queues: [{ name: 'duel' }] }, { name: 'b.yaml' }],
    })
    const matched = result.variants.map(({ runs }) => runs.map(({ figures }) => figures.all.matched))
    expect(matched[1]?.[0]).toBeGreaterThan(matched[0]?.[0] ?? 1)
    const { servers } = result.variants[1]?.runs[0]?.figures ?? {}
    expect(servers?.cost).toBeCloseTo((servers?.hours ?? 0) * 0.6, 1)
    const { ratings } = result.variants[1]?.runs[0] ?? {}
    expect(ratings?.experience).toMatchObject([{ name: 'first 5', players: expect.any(Number) }])
    const saved = await read('r.json')
    expect({ ...(JSON.parse(saved) as LabResult), comparisons: expect.any(Array) }).toEqual(result)
  })

  test('muster lab run compares the cost of two pool policies and of a server for each match', async () => {
    await lab('crowd --players 150 --hours 0.5 --seed 7 --out crowd.ndjson')
    const policy = (maxMatches: number) => `pools:
  - name: arena
    deploy: { application: game, version: '1' }
    places: [{ name: Frankfurt, latitude: 50.1, longitude: 8.7 }]
    warm: { hit: 0.9, maxIdleShare: 1 }
    reuse: { maxMatches: ${maxMatches} }
queues: [{ name: duel, matchSize: 2, pool: arena }]
`
    await file('own.yaml', QUEUES(1e9))
    await file('once.yaml', policy(1))
    await file('often.yaml', policy(20))
    const files = '-q own.yaml -q once.yaml -q often.yaml'
    const { code, out } = await lab(`run crowd.ndjson ${files} --seeds 1 --threads 1 --server-hour 0.1 --json`)
    const { variants } = JSON.parse(out) as LabResult
    const [own, once, often] = variants.map(({ runs }) => runs[0]?.figures)
    expect([code, own?.pools]).toEqual([0, {}])
    expect(variants.map(({ pools }) => pools[0]?.sentences.find((words) => words.includes('serves')))).toEqual([
      undefined,
      'A server serves one match.',
      'A server serves 20 matches.',
    ])
    const [single, reused] = [once?.pools['arena'], often?.pools['arena']]
    expect(single?.created).toBeGreaterThanOrEqual(single?.matches ?? Infinity)
    expect(reused?.created).toBeLessThan(single?.created ?? 0)
    for (const pool of [single, reused]) expect(pool?.warm).toBeGreaterThan(0.5)
    expect(often?.all.toPlayMs.p50).toBeLessThan(own?.all.toPlayMs.p50 ?? 0)
    expect(reused?.cost).toBeCloseTo((reused?.hours ?? 0) * 0.1, 2)
  })

  test.each([
    ['crowd.ndjson', "error: required option '-q, --queues <file>' not specified"],
    ['crowd.ndjson -q none.yaml', 'none.yaml: error: does not exist'],
    ['none.ndjson -q a.yaml', 'none.ndjson: error: does not exist'],
    ['torn.ndjson -q a.yaml', 'torn.ndjson:2:7: error: is cut off: ends too early'],
    ['empty.ndjson -q a.yaml', 'empty.ndjson:1:1: error: is missing: the crowd is empty'],
    ['crowd.ndjson -q wrong.yaml', 'wrong.yaml:4:5: error: queues.0.rulez: is not known; did you mean rules?'],
    ['crowd.ndjson -q a.yaml -q ./a.yaml', 'error: --queues: a.yaml and ./a.yaml are the same file'],
    ['crowd.ndjson -q a.yaml --seeds 0', 'The value must be a whole number from 1 to 1000.'],
    ['crowd.ndjson -q a.yaml --tick 0s', 'The value must be a time from 1ms to 60s, like 250ms, 5s or 2m.'],
    ['crowd.ndjson -q a.yaml --newcomers 1', 'error: --newcomers and --newcomers-below: need --ratings'],
    ['true.ndjson -q a.yaml --ratings', 'error: ratings: player "p1-1" has no truth, the skill that decides who wins'],
    ['crowd.ndjson -q a.yaml --out ./a.yaml', 'error: --out: ./a.yaml is a file that the command reads, too'],
    ['crowd.ndjson -q a.yaml --out r --html ./r', 'error: --html: ./r is a file that --out writes, too'],
    ['crowd.ndjson -q a.yaml --server-hour cheap', 'The value must be a price like 0.12 or 0.12EUR.'],
  ])('muster lab run refuses %s', async (args, words) => {
    const { out: crowd } = await lab('crowd --players 4 --hours 0.05')
    await file('crowd.ndjson', crowd)
    await file('torn.ndjson', `${crowd.split('\n')[0]}\n{"id":`)
    await file('empty.ndjson', '')
    await file('true.ndjson', crowd.replaceAll(/,"truth":[^,}]*/g, ''))
    await file('a.yaml', QUEUES(1))
    await file('wrong.yaml', QUEUES(1).replace('rules', 'rulez'))
    const { code, out, err } = await lab(`run ${args}`)
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain(words)
  })
})

test('muster lab run refuses an output that cannot be written before it runs', async () => {
  await lab('crowd --players 4 --hours 0.05 --out crowd.ndjson')
  await file('a.yaml', QUEUES(1))
  expect(await lab('run crowd.ndjson -q a.yaml --out none/result.json')).toEqual({
    code: 1,
    out: '',
    err: 'error: none/result.json cannot be written (ENOENT)\n',
  })
})

describe('the progress of muster lab run', () => {
  test('the progress of muster lab run is a bar with the remaining time, at most ten updates a second', async () => {
    const clock = createManualClock()
    const drawn: string[] = []
    const terminal = { draw: (line: string) => drawn.push(line), complain: (line: string) => drawn.push(line) }
    const progress = createProgress(terminal as never, clock)
    progress.share(0)
    await clock.advance(30_000)
    progress.share(0.25)
    progress.share(0.26)
    progress.part('1 of 4: a.yaml with seed 7')
    await clock.advance(30_000)
    progress.share(0.999)
    progress.end()
    expect(drawn).toEqual([
      '░░░░░░░░░░░░░░░░░░░░░░░░   0 % · …',
      '██████░░░░░░░░░░░░░░░░░░  25 % · 1 min 30 s left',
      '████████████████████████  99 % · 1 s left · 1 of 4: a.yaml with seed 7',
      '',
    ])
  })

  test('the progress of muster lab run is cut to the terminal width, and its line is removed at the end', () => {
    const written: string[] = []
    const stderr = { isTTY: true, columns: 10, write: (text: string) => written.push(text) > 0 }
    const terminal = terminalOf({ stdout: { write: () => true }, stderr, env: {}, cwd: () => '/' })
    terminal.draw?.('0123456789')
    terminal.draw?.('')
    expect(written).toEqual(['\r012345678\u{1B}[K', '\r\u{1B}[K'])
  })
})
