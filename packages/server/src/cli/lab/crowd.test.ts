import { readdir } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { runProgram } from '../program.js'
import { terminalOf } from '../terminal.js'
import { inFolder } from '../in-folder.fixture.js'

const { file, path, read } = inFolder()

/** Runs `muster lab crowd` in the folder. @param readers number of lines after which the reader closes the output */
async function crowd(args: string, readers = Infinity) {
  const [out, err]: [string[], string[]] = [[], []]
  const stdout = {
    write: (text: string, done?: (error?: Error) => void) => {
      if (out.length >= readers) done?.(new Error('write EPIPE'))
      else {
        out.push(text)
        done?.()
      }
      return true
    },
  }
  const stderr = { write: (text: string) => err.push(text) > 0 }
  const terminal = terminalOf({ stdout, stderr, env: {}, cwd: () => path() })
  const code = await runProgram(['lab', 'crowd', ...args.split(' ')], terminal)
  return { code, out: out.join(''), err: err.join(''), writes: out.length }
}

describe('muster lab crowd for a synthetic crowd', () => {
  test('muster lab crowd writes to standard output or to a file, the same for the same seed', async () => {
    const { code, out, err } = await crowd('--players 30 --hours 2 --seed 7')
    expect([code, err]).toEqual([0, ''])
    const [header, ...parties] = out.trimEnd().split('\n')
    expect(JSON.parse(header as string)).toMatchObject({ format: 'muster-crowd-1', durationMs: 7_200_000 })
    expect(parties.flatMap((line) => (JSON.parse(line) as { players: unknown[] }).players)).toHaveLength(30)
    expect(await crowd('--players 30 --hours 2 --seed 7 --out crowd.ndjson')).toEqual({ code, out: '', err, writes: 0 })
    expect(await read('crowd.ndjson')).toBe(out)
    expect(await readdir(path())).toEqual(['crowd.ndjson'])
    expect((await crowd('--players 30 --hours 2 --seed 8')).out).not.toBe(out)
  })

  test('muster lab crowd ends without an error when its output is closed', async () => {
    expect(await crowd('--players 2000', 1)).toMatchObject({ code: 0, err: '', writes: 1 })
  })

  test('muster lab crowd reads parameters from a file, and can write one with all defaults', async () => {
    const { out } = await crowd('--show-parameters')
    expect(out).toMatch(/^# How many players come, each at least once\..*\nplayers: 50000\n/)
    expect(out).toContain(
      '  # Median milliseconds until a party gives up. Our choice: a fifth of a match.\n  medianMs: 240000\n',
    )
    await file('same.yaml', out)
    expect((await crowd('--parameters same.yaml --players 20')).out).toBe((await crowd('--players 20')).out)
    await file('pairs.yaml', 'parties: { sizes: [0, 1] }')
    expect((await crowd('--parameters pairs.yaml --players 20')).out.trimEnd().split('\n')).toHaveLength(11)
  })
})

const line = (event: object, at: number) => `${JSON.stringify({ at, n: 0, ...event })}\n`
const create = (id: string, at: number) => {
  const players = [{ id: `player-${id}`, coordinates: { latitude: 52.5, longitude: 13.4 } }]
  return line({ kind: 'create', ticket: { id, queues: ['duel'], players, priority: 0, createdAt: at } }, at)
}
/** Recorded traffic of 100 tickets in 100 minutes. */
const RECORDING = Array.from({ length: 100 }, (_, index) => create(`t${index}`, 1e12 + index * 60_000)).join('')

const partiesOf = (out: string) =>
  out
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((text) => JSON.parse(text) as { id: string; at: number })

describe('muster lab crowd for other crowds', () => {
  test('muster lab crowd converts recorded traffic, with notes on what the recording does not contain', async () => {
    await file('traffic.ndjson', RECORDING)
    const { code, out, err } = await crowd('--from traffic.ndjson')
    expect(code).toBe(0)
    expect(partiesOf(out)).toHaveLength(100)
    expect(err).toMatch(/^traffic.ndjson: when tickets were matched is unknown: the recording has no queues\n/)
    await file('again.ndjson', out)
    expect(await crowd('--from again.ndjson')).toMatchObject({ code: 0, out, err: '' })
  })

  test('muster lab crowd cuts, mixes and scales crowds', async () => {
    await file('traffic.ndjson', RECORDING)
    await crowd('--players 200 --hours 1 --seed 3 --out made.ndjson')
    const cut = partiesOf((await crowd('--from traffic.ndjson --cut 10m..70m')).out)
    expect([cut.length, cut[0]?.id, cut[0]?.at, cut.at(-1)?.id]).toEqual([60, 't10', 0, 't69'])
    const mixed = await crowd('--from traffic.ndjson,made.ndjson --cut 10m..1h --scale 3 --seed 7')
    const ids = partiesOf(mixed.out).map(({ id }) => id)
    expect(ids.filter((id) => id.startsWith('1.'))).toHaveLength(150)
    expect(ids.filter((id) => id.startsWith('2.')).length).toBeGreaterThan(150)
    expect((await crowd('--from traffic.ndjson,made.ndjson --cut 10m..1h --scale 3 --seed 7')).out).toBe(mixed.out)
  })

  test.each([
    ['--from torn.ndjson', /^torn.ndjson:101:\d+: error: is cut off: /],
    ['--from torn.ndjson', /torn.ndjson cannot be used: 1 error.\n$/],
    ['--from traffic.ndjson,none.ndjson', /none.ndjson: error: does not exist\n/],
    ['--from .', /^\.: error: is a folder: name the file in it/],
    ['--from empty.ndjson', /^empty.ndjson:1:1: error: is missing: the crowd is empty/],
    ['--from wrong.ndjson', /^wrong.ndjson:2:1: error: visits.0.playMs: must be at least 0, got -1/],
    ['--from traffic.ndjson --cut 0m..5h', /error: cut: must end with the crowd at 5940001 ms, got 18000000/],
    ['--from traffic.ndjson --cut 10..70', /must be a range of times in the recording, like 10m..70m./],
    ['--from traffic.ndjson --scale 11', /argument '11' is invalid. The value must be a number from 0.1 to 10./],
    [
      '--from traffic.ndjson --players 5',
      /^error: --players is for a generated crowd, so it cannot be used with --from/,
    ],
    ['--from a,,b', /The value must be file names separated by commas./],
    ['--scale 3', /^error: --scale needs --from: the crowd to change/],
  ])('muster lab crowd refuses the input %s', async (args, words) => {
    const { out } = await crowd('--players 1 --hours 1')
    await file('traffic.ndjson', RECORDING)
    // Only the last line of a process may be cut, by a crash.
    await file('torn.ndjson', `${RECORDING}${create('x', 1e12 + 6e6).slice(0, -20)}\n${create('y', 1e12 + 6e6)}`)
    await file('empty.ndjson', '')
    await file('wrong.ndjson', out.replace(/"playMs":\d+/, '"playMs":-1'))
    const refused = await crowd(args)
    expect([refused.code, refused.out]).toEqual([2, ''])
    expect(refused.err).toMatch(words)
  })
})

describe('muster lab crowd with an invalid file', () => {
  test.each([
    [
      '--players 0',
      "error: option '--players <number>' argument '0' is invalid. The value must be a whole number from 1 to",
    ],
    ['--players 2.5', "argument '2.5' is invalid. The value must be a whole number"],
    ['--hours long', "argument 'long' is invalid. The value must be a number from 0.01 to 744."],
    ['--seed -1', "argument '-1' is invalid."],
    ['--parameters none.yaml', 'none.yaml: error: does not exist'],
    ['--parameters wrong.yaml', 'wrong.yaml:3:10: error: patience.shape: must be at least 0.2, got -1'],
    ['--parameters wrong.yaml', 'wrong.yaml:4:1: error: skil: is not known; did you mean skill?'],
    ['--parameters torn.yaml', 'torn.yaml:2:1: error: has a { without its }'],
    ['--parameters list.yaml', 'list.yaml:1:1: error: must be names with values'],
    ['--parameters night.yaml', 'error: crowd parameter activity: must not be 0 in all hours of the crowd'],
  ])('muster lab crowd reports an error with its place: %s', async (args, words) => {
    await file('wrong.yaml', 'players: 20\npatience:\n  shape: -1\nskil: {}\n')
    await file('torn.yaml', 'skill: { mean: 5\n')
    await file('list.yaml', '- 5\n')
    await file(
      'night.yaml',
      `hours: 1\ncities: [{ name: a, region: Europe, population: 1, latitude: 0, longitude: 0, utcOffsetHours: 0 }]
regions: { Europe: 1 }\nactivity: [${Array.from({ length: 24 }, (_, hour) => (hour === 12 ? 1 : 0)).join(', ')}]\n`,
    )
    const { code, out, err } = await crowd(args)
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain(words)
  })

  test('muster lab crowd reports a file that cannot be written', async () => {
    expect(await crowd('--players 5 --out none/crowd.ndjson')).toMatchObject({
      code: 1,
      err: 'error: none/crowd.ndjson cannot be written (ENOENT)\n',
    })
  })
})
