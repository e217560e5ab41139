import { InvalidInput } from '@muster/core'
import { createManualClock } from '@muster/core/clock'
import { describe, expect, test } from 'vitest'
import { InvalidQueue } from './errors.js'
import { configure, type MatchmakerOptions } from './options.js'
import { createTestService } from '@muster/hosting/service-fixture'

const { deployments } = createTestService({ clock: createManualClock() })
const duel = { name: 'duel', matchSize: 2, deploy: { application: 'game', version: '1' } }
const options: MatchmakerOptions = { deployments, queues: [duel] }

test('every matchmaker option is optional, with the documented default', () => {
  expect(configure(options)).toMatchObject({
    name: 'muster',
    tickMs: 250,
    maxServers: 1000,
    maxStarting: 200,
  })
  expect(configure(options).locate).toBeUndefined()
  expect(configure({ ...options, maxServers: Infinity })).toMatchObject({
    maxServers: Infinity,
    maxCreatesInFlight: 100,
  })
})

describe('an invalid matchmaker option', () => {
  test.each<[object, string]>([
    [{ tickMs: 0 }, 'option tickMs: '],
    [{ tickMs: NaN }, 'option tickMs: '],
    [{ maxServers: 0 }, 'option maxServers: must be a whole number from 1, or Infinity, got 0'],
    [{ maxCreatesInFlight: 0 }, 'option maxCreatesInFlight: must be a whole number from 1, or Infinity, got 0'],
    [{ name: 'a b' }, 'option name: must be 1 to 32 of A–Z, a–z, 0–9, _ and -, got "a b"'],
    [{ name: 'x'.repeat(33) }, 'option name: '],
    [{ locate: {} }, 'option locate: must be a function'],
    [{ store: { records: () => {} } }, 'option store: must have isFailing, attach, records, write, flush'],
    [{ pools: {} }, 'option pools: must be a list'],
    [{ deployments: { create: () => {} } }, 'option deployments: must have create, get, stop, list'],
    [{ clock: {} }, 'option clock: must have now, sleep'],
    [{ tick: 5 }, 'option tick: is not known'],
    [{ queues: [] }, 'option queues: must be a list of at least one queue'],
    [{ queues: [duel, duel] }, 'option queues: two queues have the name "duel"'],
  ])('an invalid matchmaker option is refused with its name and value: %o', (wrong, message) => {
    expect(() => configure({ ...options, ...wrong })).toThrow(InvalidInput)
    expect(() => configure({ ...options, ...wrong })).toThrow(message)
  })

  test('an invalid queue in the matchmaker options throws InvalidQueue', () => {
    expect(() => configure({ ...options, queues: [{ ...duel, matchSize: 0 }] })).toThrow(InvalidQueue)
  })
})
