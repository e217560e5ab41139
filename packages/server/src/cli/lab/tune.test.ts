import { execFileSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { beforeEach, describe, expect, test } from 'vitest'
import { inFolder } from '../in-folder.fixture.js'

const { run, read, file, path } = inFolder()

/** Two of three queues relax. The steps of `duel` come too late. */
const QUEUES = `# Ours.
queues:
- name: duel   # two
  matchSize: 2
  rules:
  # By skill.
  - {kind: difference, attribute: skill, max: [{afterMs: 0, value: 100}, {afterMs: 20000, value: 5000}]}
  - {kind: distance, maxKm: 100}
- { name: ranked, matchSize: 2, rules: [{ kind: distance, maxKm: { from: 500, to: 5000, overMs: 9000 } }] }
- { name: casual, matchSize: 2 }
`

/** Pairs with their own locations, whose skills are 1,000 apart. They wait until the limit allows them. */
const COUPLES = [
  { format: 'muster-crowd-1', startsAt: 0, durationMs: 21_000 },
  ...Array.from({ length: 20 }, (_, index) => ({
    id: `p${index}`,
    at: Math.floor(index / 2) * 2000,
    players: [
      {
        id: `p${index}`,
        coordinates: { latitude: 0, longitude: 5 * Math.floor(index / 2) },
        attributes: { skill: 1000 * (index % 2) },
      },
    ],
    visits: [{ patienceMs: 25_000, playMs: 1000 }],
  })),
]
  .map((line) => `${JSON.stringify(line)}\n`)
  .join('')

const tune = (...args: readonly string[]) =>
  run(['lab', 'tune', 'crowd.ndjson', '-q', 'a.yaml', ...args], { env: { NO_COLOR: '1' } })

describe('muster lab tune', () => {
  test('muster lab tune finds steps that keep a promise, reports them, and changes the file', async () => {
    await file('a.yaml', QUEUES)
    await file('crowd.ndjson', COUPLES)
    const quick = ['--seeds', '1', '--unseen', '1', '--budget', '24', '--tick', '1s', '--threads', '1']
    const promises = ['--wait-p90', '10s', '--give-up', '90%']
    const wanted = ['--json', '--patch', 'a.diff', '--write']
    const { code, out, err } = await tune('--queue', 'duel', ...promises, ...quick, ...wanted)
    expect({ code, err }).toEqual({ code: 0, err: 'a.yaml is changed.\n' })

    const { changes, patch, verdict, runs, leftAlone } = JSON.parse(out) as Record<string, unknown>
    expect(changes).toEqual([expect.objectContaining({ name: 'difference skill', path: ['rules', 0, 'max'] })])
    expect(verdict).toMatchObject({ broken: [], keeping: 1 })
    expect(runs).toBeLessThanOrEqual(24)
    expect(leftAlone).toEqual([expect.objectContaining({ name: 'distance' })])
    expect(out).not.toContain('"figures"')

    const written = await read('a.yaml')
    const line = /^.*attribute: skill.*$/m
    expect(written.replace(line, '')).toBe(QUEUES.replace(line, ''))
    expect(written).not.toBe(QUEUES)
    expect(await read('a.diff')).toBe(patch)
    await file('a.yaml', QUEUES)
    const env = { ...process.env, GIT_CEILING_DIRECTORIES: tmpdir() }
    execFileSync('git', ['apply', 'a.diff'], { cwd: path(), env, stdio: 'pipe' })
    expect(await read('a.yaml')).toBe(written)
  })
})

test('muster lab tune continues with seed 0 after the highest seed, as muster lab run does', async () => {
  await file('a.yaml', QUEUES)
  const made = await run([
    'lab',
    'crowd',
    ...'--players 20 --hours 0.1 --seed 4294967295 --out crowd.ndjson'.split(' '),
  ])
  expect(made.code).toBe(0)
  const quick = '--queue duel --seeds 1 --unseen 1 --budget 24 --tick 1s --threads 1 --json'.split(' ')
  const { out, err } = await tune('--give-up', '100%', '--wait-p90', '1h', ...quick)
  expect(err).toBe('')
  expect(JSON.parse(out)).toMatchObject({ trainingSeeds: [4_294_967_295], unseenSeeds: [0] })
})

describe('muster lab tune with an invalid input', () => {
  const player = { id: 'a', coordinates: { latitude: 0, longitude: 0 }, attributes: { skill: 1 } }
  const visits = [{ patienceMs: 1000, playMs: 1000 }]
  const party = { id: 'p', at: 0, players: [player], queues: ['duel', 'casual'], visits }
  beforeEach(async () => {
    await file('a.yaml', QUEUES)
    const header = { format: 'muster-crowd-1', startsAt: 0, durationMs: 60_000 }
    await file('crowd.ndjson', `${JSON.stringify(header)}\n${JSON.stringify(party)}\n`)
  })
  const WAIT = ['--wait-p90', '30s']

  test.each<[string, readonly string[], string]>([
    ['an unknown queue', ['--queue', 'rankd', ...WAIT], 'has no queue "rankd"; did you mean ranked? (it has "duel", '],
    ['a queue without limits', ['--queue', 'casual', ...WAIT], 'none of its rules has a limit that could relax'],
    ['no promise', ['--queue', 'duel'], '--wait-p90 or --give-up is required'],
    ['a wait without unit', ['--queue', 'duel', '--wait-p90', '30'], 'must be a time from 1s to 1h'],
    ['a share over 100 %', ['--queue', 'duel', '--give-up', '101%'], 'must be a share of the players, like 5% or 0.05'],
    ['an invalid share', ['--queue', 'duel', '--give-up', 'few'], 'must be a share of the players, like 5% or 0.05'],
    [
      'an unknown wait option',
      ['--queue', 'duel', ...WAIT, '--also', 'fillforMs'],
      '"fillforMs" is not one of fillForMs',
    ],
    [
      'a wait option that the queue lacks',
      ['--queue', 'duel', ...WAIT, '--also', 'lastResortMs'],
      '--also: the queue has no last',
    ],
    [
      'bounds of an unknown limit',
      ['--queue', 'duel', ...WAIT, '--bounds', 'skil=1..2'],
      '--bounds: the queue has no limit',
    ],
    [
      'invalid bounds',
      ['--queue', 'duel', ...WAIT, '--bounds', 'difference skill=5'],
      'must be a limit and two different',
    ],
    ['too few runs', ['--queue', 'duel', ...WAIT, '--budget', '10'], '--budget: must be at least 52 runs'],
    ['a crowd for other queues', ['--queue', 'ranked', ...WAIT], 'no party wants queue "ranked"; they want "duel"'],
  ])('muster lab tune refuses an invalid input: %s', async (_, args, message) => {
    const { code, out, err } = await tune(...args)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain(message)
    expect(await read('a.yaml')).toBe(QUEUES)
  })

  test('muster lab tune refuses a truncated crowd with its line', async () => {
    await file('crowd.ndjson', (await read('crowd.ndjson')).slice(0, -20))
    const { code, err } = await tune('--queue', 'duel', ...WAIT)
    expect(code).toBe(2)
    expect(err).toMatch(/^crowd\.ndjson:2:\d+: error/)
  })
})
