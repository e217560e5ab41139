import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { CrowdParty } from '../crowd.js'
import { generateCrowd } from './generate-crowd.js'
import type { CrowdParameters } from './parameters.js'

const hashOf = (value: unknown) => createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16)

test('the same seed generates the same crowd bytes on every machine', () => {
  const crowd = generateCrowd({ players: 300 }, 7)
  expect(hashOf(crowd)).toBe('d8caa34d1695f613')
  expect(generateCrowd({ players: 300 }, 7)).toEqual(crowd)
  expect(hashOf(generateCrowd({ players: 300 }, 8).parties)).not.toBe(hashOf(crowd.parties))
})

/**
 * The parts of a crowd, each of which depends on its own parameters. Later visits may be left out for lack of time, so
 * only the first visit is compared.
 */
const ASPECTS: Readonly<Record<string, (party: CrowdParty) => unknown>> = {
  time: ({ at }) => at,
  place: ({ players }) => players.map(({ coordinates, region }) => [coordinates, region]),
  latencies: ({ players }) => players.map(({ latencies }) => latencies),
  truth: ({ players }) => players.map(({ truth }) => truth),
  skill: ({ players }) => players.map(({ attributes }) => attributes?.['skill']),
  platform: ({ players }) => players.map(({ attributes }) => attributes?.['platform']),
  roles: ({ players }) => players.map(({ roles }) => roles),
  queues: ({ queues }) => queues,
  patience: ({ visits }) => visits[0]?.patienceMs,
  accepts: ({ visits }) => visits[0]?.accepts,
  play: ({ visits }) => visits[0]?.playMs,
  break: ({ visits }) => visits[0]?.breakMs,
}
const CHANGES: readonly (readonly [CrowdParameters, readonly string[]])[] = [
  [{ metropolitanKm: 90 }, ['place', 'latencies']],
  [{ latency: { jitterMs: 30 } }, ['latencies']],
  [{ latency: { accessMs: 50 } }, ['latencies']],
  [{ parties: { sameCity: 0 } }, ['place', 'latencies']],
  [{ parties: { samePlatform: 0 } }, ['platform']],
  [{ skill: { mean: 3000 } }, ['truth', 'skill']],
  [{ skill: { partyCorrelation: 1 } }, ['truth', 'skill']],
  [{ skill: { error: 900 } }, ['skill']],
  [{ roles: { any: 1 } }, ['roles']],
  [{ platforms: { pc: 1 } }, ['platform']],
  [{ queues: { ranked: 1, casual: 2 } }, ['queues']],
  [{ patience: { shape: 5 } }, ['patience']],
  [{ visits: { decline: 1 } }, ['accepts']],
  [{ visits: { breakMs: 1, laterMs: 1 } }, ['break']],
  [{ play: { leaveEarly: 1 } }, ['play']],
]
const PLAYERS = 60
const plain = generateCrowd({ players: PLAYERS }, 7)

test('each crowd parameter changes only the values that it describes', () => {
  fc.assert(
    fc.property(fc.subarray([...CHANGES], { minLength: 1 }), (changes) => {
      const parameters: Record<string, object | number> = { players: PLAYERS }
      for (const [name, value] of changes.flatMap(([change]) => Object.entries(change))) {
        const before = parameters[name]
        parameters[name] = typeof before === 'object' ? { ...before, ...(value as object) } : (value as object | number)
      }
      const changed = generateCrowd(parameters as CrowdParameters, 7)
      const about = new Set(changes.flatMap(([, aspects]) => aspects))
      for (const [name, of] of Object.entries(ASPECTS)) {
        if (about.has(name)) expect(changed.parties.map(of), name).not.toEqual(plain.parties.map(of))
        else expect(changed.parties.map(of), name).toEqual(plain.parties.map(of))
      }
    }),
    { numRuns: 25 },
  )
})

test('a larger generated party has the same first members, and more players give more parties', () => {
  const alone = generateCrowd({ players: 2 * PLAYERS, parties: { sizes: [1] } }, 7)
  const firstOf = new Map(alone.parties.map(({ id, at, players }) => [id, [at, players[0]]]))
  for (const { id, at, players } of plain.parties) expect([at, players[0]]).toEqual(firstOf.get(id))
})

test.each([
  [{ players: 0 }, 'crowd parameter players: must be at least 1, got 0'],
  [{ hour: 3 }, 'crowd parameter hour: is not known; did you mean hours?'],
  [{ patience: { shape: 'steep' } }, 'crowd parameter patience.shape: must be a number, got a text'],
  [{ parties: { sizes: [0, 0] } }, 'crowd parameter parties.sizes: must not be 0 everywhere, got a list'],
  [{ regions: { Atlantis: 1 } }, 'crowd parameter regions.Atlantis: is a region without cities, got 1'],
])('generateCrowd refuses the parameters %j', (parameters, message) => {
  expect(() => generateCrowd(parameters as object, 7)).toThrow(message)
})
