import { describe, expect, test } from 'vitest'
import { runBench, type Suites } from './command.js'
import { atLeast, atMost, type Figure } from './figure.js'

const partOf = (figure: Figure) => async () => ({ figures: [figure], peers: { [`${figure.name}: theirs`]: 1 } })
const suites: Suites = {
  matchmaker: {
    'kernel-pairs': partOf(atMost('pairs', [3, 1, 2, 9], 2.5, 'ms', '99 % matched')),
    'kernel-tens': partOf(atMost('tens', [3, 1, 4], 2.9, 'ms')),
    whole: partOf(atLeast('whole', [5, 4, 1], 4.5, 'tickets/s')),
    waits: partOf(atLeast('waits', 7, 7, '%')),
  },
  broken: {
    first: async () => {
      throw new Error('no turnserver')
    },
    second: partOf(atMost('second', 1, 2, 'ms')),
  },
}

async function run(...args: string[]) {
  const [lines, errors]: [string[], string[]] = [[], []]
  const output = { log: (line: string) => lines.push(line), error: (line: string) => errors.push(line) }
  const code = await runBench(suites, args, output)
  return { code, out: lines.join('\n'), err: errors.join('\n') }
}

describe('a benchmark figure', () => {
  test('a benchmark figure shows its median compared with the goal, and its lowest run', async () => {
    const { out } = await run('matchmaker')
    expect(out).toContain('ok    pairs: 2.5 ms (goal 2.5, least 1, most 9 of 4 runs); 99 % matched')
    expect(out).toContain('SHORT tens: 3 ms (goal 2.9, least 1, most 4 of 3 runs)')
    expect(out).toContain('SHORT whole: 4 tickets/s (goal 4.5, least 1, most 5 of 3 runs)')
    expect(out).toContain('ok    waits: 7 % (goal 7)')
  })

  test('a benchmark figure in JSON has its printed values, and the values of other products', async () => {
    const { out } = await run('matchmaker', 'kernel-tens', '--json')
    expect(JSON.parse(out)).toEqual({
      figures: [{ name: 'tens', median: 3, least: 1, most: 4, runs: 3, goal: 2.9, unit: 'ms', ok: false }],
      peers: { 'tens: theirs': 1 },
    })
  })

  test('a benchmark figure without runs is refused', () => {
    expect(() => atMost('tens', [], 1, 'ms')).toThrow('tens: there are no runs')
  })
})

describe('the benchmark option --check', () => {
  test('a benchmark with --check exits with 1 and names exactly the figures that miss their goals', async () => {
    const { code, err } = await run('matchmaker', '--check')
    expect(code).toBe(1)
    expect(err.split('\n')).toEqual([
      'falls short: tens: 3 ms (goal 2.9, least 1, most 4 of 3 runs)',
      'falls short: whole: 4 tickets/s (goal 4.5, least 1, most 5 of 3 runs)',
    ])
  })

  test('a benchmark exits with 0 if all figures reach their goals, as does a run without --check', async () => {
    expect(await run('matchmaker', 'waits', '--check')).toMatchObject({ code: 0, err: '' })
    expect(await run('matchmaker')).toMatchObject({ code: 0, err: '' })
  })
})

describe('parts of the benchmark suite', () => {
  const ran = async (...names: string[]) =>
    (JSON.parse((await run('matchmaker', ...names, '--json')).out) as { figures: Figure[] }).figures.map(
      ({ name }) => name,
    )

  test('benchmark parts are selected by name or first words, and run once each in the order of the suite', async () => {
    expect(await ran('waits', 'kernel')).toEqual(['pairs', 'tens', 'waits'])
    expect(await ran('kernel-tens', 'kernel')).toEqual(['pairs', 'tens'])
  })

  test.each([
    [['matchmaker', 'kern'], 'no part kern in matchmaker'],
    [['matchmaker', 'waits', 'constructor'], 'no part constructor in matchmaker'],
    [['constructor'], 'no suite constructor'],
    [[], 'which suite?'],
    [['matchmaker', '--rounds'], "Unknown option '--rounds'"],
  ])('an unknown benchmark part is refused with all existing names: %j', async (args, message) => {
    const { code, out, err } = await run(...args)
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain(message)
    expect(err).toContain('  matchmaker: kernel-pairs, kernel-tens, whole, waits\n')
  })

  test('a failing benchmark part is named, and the other parts still run', async () => {
    const { code, out, err } = await run('broken')
    expect([code, err]).toEqual([1, 'failed: first: no turnserver'])
    expect(out).toContain('ok    second: 1 ms (goal 2)')
  })
})
