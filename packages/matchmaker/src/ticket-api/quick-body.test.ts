import fc from 'fast-check'
import { expect, test } from 'vitest'
import { TicketBody } from './bodies.js'
import { quickBody } from './quick-body.js'

const odd = fc.oneof(
  fc.anything(),
  fc.constantFrom<unknown>(undefined, null, '', NaN, Infinity, 0, -0, 0.5, [], {}),
  fc.integer({ min: 63, max: 129 }).map((length) => 'x'.repeat(length)),
)
const mostly = (usual: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 20, arbitrary: usual }, { weight: 1, arbitrary: odd })

const text = (most: number) =>
  fc.oneof(
    { weight: 9, arbitrary: fc.string({ maxLength: 5 }) },
    fc.integer({ min: most - 1, max: most + 1 }).map((length) => 'x'.repeat(length)),
  )
const names = fc.array(fc.string(), { maxLength: 3 })
const body = fc.record(
  {
    profile: mostly(text(64)),
    attributes: mostly(fc.dictionary(fc.string(), fc.jsonValue())),
    player_ip: mostly(text(64)),
    player_id: mostly(text(128)),
    id: mostly(text(64)),
    priority: mostly(fc.integer({ min: -102, max: 102 })),
  },
  { requiredKeys: [] },
)
const seldom = fc.record(
  { profiles: names, roles: names, avoid: names, coordinates: odd, surplus: odd },
  { requiredKeys: [] },
)

test('the quick reader reads what the schema reads, and nothing that the schema refuses', () => {
  const reached = { quick: 0, refused: 0 }
  const bodies = mostly(
    fc.oneof(
      { weight: 4, arbitrary: body },
      fc.tuple(body, seldom).map(([usual, more]) => ({ ...usual, ...more })),
    ),
  )
  fc.assert(
    fc.property(bodies, (given) => {
      const quick = quickBody(given)
      const read = TicketBody.safeParse(given)
      if (quick !== undefined) {
        reached.quick += 1
        expect(read).toEqual({ success: true, data: quick })
      } else if (!read.success) reached.refused += 1
    }),
    { numRuns: 1500 },
  )
  expect(reached.quick).toBeGreaterThan(100)
  expect(reached.refused).toBeGreaterThan(100)
})
