import { deepStrictEqual } from 'node:assert/strict'
import { MusterError } from '@muster/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { quickRead, readBySchema } from './ticket-input.js'
import type { TicketInput } from './ticket.js'

const odd = fc.oneof(
  fc.anything(),
  fc.constantFrom<unknown>(
    undefined,
    null,
    '',
    'x'.repeat(128),
    'x'.repeat(129),
    NaN,
    Infinity,
    0,
    -0,
    100,
    101,
    90.5,
    [],
    {},
    ['a', 'a'],
  ),
)
const mostly = (usual: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 40, arbitrary: usual }, { weight: 1, arbitrary: odd })
const fields = (record: Record<string, fc.Arbitrary<unknown>>, needed: readonly string[]) =>
  fc.record({ ...record, surplus: odd }, { requiredKeys: [...needed] as never[] }).chain((all) => {
    const { surplus, ...usual } = all as Record<string, unknown>
    return fc.oneof(
      { weight: 40, arbitrary: fc.constant(usual) },
      { weight: 1, arbitrary: fc.constant({ ...usual, surplus }) },
    )
  })

const attributeName = fc.oneof(
  { weight: 20, arbitrary: fc.string({ minLength: 1, maxLength: 4 }) },
  fc.constantFrom('', '__proto__', 'constructor', 'x'.repeat(129), '\ud800'),
)
const attribute = fc.oneof(
  { weight: 20, arbitrary: fc.integer() },
  fc.double(),
  fc.string(),
  fc.constant('a\udc00'),
  fc.uniqueArray(fc.string(), { maxLength: 3 }),
  fc.integer({ min: 126, max: 130 }).map((length) => Array.from({ length }, (_, index) => String(index))),
)
const attributes = fc.oneof(
  { weight: 10, arbitrary: fc.dictionary(attributeName, mostly(attribute), { maxKeys: 3 }) },
  fc.dictionary(fc.string({ minLength: 1 }), fc.integer(), { minKeys: 60, maxKeys: 70 }),
)
const coordinates = fields(
  {
    latitude: mostly(fc.double({ min: -90.5, max: 90.5, noNaN: true })),
    longitude: mostly(fc.integer({ min: -181, max: 181 })),
  },
  ['latitude', 'longitude'],
)
const ip = fc.oneof(
  { weight: 9, arbitrary: fc.ipV4() },
  { weight: 9, arbitrary: fc.ipV6() },
  fc.constantFrom('::FFFF:192.0.2.1', '1.2.3', 'example.com', ''),
)
const latencies = fc.oneof(
  { weight: 10, arbitrary: fc.dictionary(attributeName, mostly(fc.integer({ min: -1, max: 60_001 })), { maxKeys: 3 }) },
  fc.dictionary(fc.string({ minLength: 1 }), fc.constant(20), { minKeys: 60, maxKeys: 70 }),
)
const names = (most: number) =>
  fc.oneof(
    { weight: 10, arbitrary: fc.uniqueArray(fc.string({ minLength: 1, maxLength: 3 }), { maxLength: 4 }) },
    fc.array(fc.string({ maxLength: 2 }), { maxLength: 12 }),
    fc.uniqueArray(fc.string({ minLength: 3 }), { minLength: most - 2, maxLength: most + 2 }),
  )
const player = fields(
  {
    id: mostly(fc.string({ minLength: 1, maxLength: 3 })),
    ip: mostly(ip),
    coordinates: mostly(coordinates),
    latencies: mostly(latencies),
    attributes: mostly(attributes),
    roles: mostly(names(16)),
    avoid: mostly(names(256)),
  },
  ['id'],
)
const ticket = fields(
  {
    id: mostly(fc.stringMatching(/^[\w-]{1,8}$/)),
    queue: mostly(fc.string()),
    queues: fc.oneof({ weight: 9, arbitrary: fc.constant(undefined) }, mostly(names(16))),
    players: mostly(fc.array(player, { maxLength: 4 })),
    priority: mostly(fc.integer({ min: -101, max: 101 })),
  },
  ['players'],
)

test('property: quickRead returns what the schema returns, or undefined', () => {
  const reached = { quick: 0, refused: 0 }
  fc.assert(
    fc.property(mostly(ticket), (input) => {
      const quick = quickRead(input)
      if (quick !== undefined) {
        reached.quick += 1
        // Not `toStrictEqual`, which mistakes an attribute named `constructor` for the object's class.
        deepStrictEqual(quick, readBySchema(input as TicketInput))
        return
      }
      try {
        readBySchema(input as TicketInput)
      } catch (error) {
        expect(error).toBeInstanceOf(MusterError)
        reached.refused += 1
      }
    }),
    { numRuns: 1500 },
  )
  expect(reached.quick).toBeGreaterThan(100)
  expect(reached.refused).toBeGreaterThan(100)
})

test('the quick ticket reader shares no object with its input', () => {
  const input = {
    queue: 'q',
    players: [{ id: 'a', coordinates: { latitude: 1, longitude: 2 }, attributes: { skill: 1 } }],
  }
  const read = quickRead(input)
  input.players.push({ id: 'b', coordinates: { latitude: 1, longitude: 2 }, attributes: { skill: 1 } })
  Object.assign(input.players[0] ?? {}, { id: 'x' })
  Object.assign(input.players[0]?.attributes ?? {}, { skill: 2 })
  Object.assign(input.players[0]?.coordinates ?? {}, { latitude: 50 })
  expect(read?.players).toMatchObject([{ id: 'a', coordinates: { latitude: 1 }, attributes: { skill: 1 } }])
})
