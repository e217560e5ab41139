import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { entries, models, NOW } from './arbitraries.fixture.js'
import { createColumns } from './columns.js'
import { createLevels } from './levels.js'
import type { Entry, Model, Slot } from './model.js'
import { createNeighbours } from './neighbours.js'
import { createStringInterner } from './string-interner.js'

const chord = (a: Entry<string>, b: Entry<string>) =>
  a.place === undefined || b.place === undefined
    ? NaN
    : Math.hypot(...a.place.map((axis, at) => axis - (b.place?.[at] ?? 0)))

/** An index of the tickets, and the tickets by slot. Those of `outside` have slots and are not in the index. */
function indexed(model: Model<string>, tickets: readonly Entry<string>[], outside: readonly Entry<string>[] = []) {
  const columns = createColumns(model.spans.length)
  const levels = createLevels(model as unknown as Model<never>, columns)
  levels.renew(NOW)
  const [keys, networks] = [createStringInterner(), createStringInterner()]
  const index = createNeighbours(model as unknown as Model<never>, columns)
  const bySlot = new Map<Slot, Entry<string>>()
  for (const entry of [...tickets, ...outside]) {
    const slot = columns.put(
      entry,
      keys.take(entry.key),
      entry.network === undefined ? -1 : networks.take(entry.network),
      entry.size,
    )
    if (!outside.includes(entry)) index.insert(slot)
    bySlot.set(slot, entry)
  }
  return { index, bySlot }
}

/** All slots returned around a slot, scale after scale, `chunk` at a time. */
function read({ index }: ReturnType<typeof indexed>, slot: Slot, chunk: number): Slot[] {
  const into = new Int32Array(chunk)
  const returned: Slot[] = []
  index.query.startAround(slot)
  for (let scale = 0; scale < index.scales.length; scale++) {
    index.query.turnTo(scale, Infinity, 0)
    for (let many = chunk; many === chunk;) {
      many = index.query.next(into)
      returned.push(...into.subarray(0, many))
    }
  }
  return returned
}

describe('for any model and any tickets', () => {
  test('each slot is returned at most once, never the centre, and by the last scale every slot of its key', () => {
    fc.assert(
      fc.property(models, entries(40), fc.integer({ min: 1, max: 50 }), (model, tickets, chunk) => {
        const world = indexed(model, tickets)
        for (const [slot, own] of world.bySlot) {
          const returned = read(world, slot, chunk)
          expect(new Set(returned).size).toBe(returned.length)
          expect(returned).not.toContain(slot)
          const sameKey = [...world.bySlot].flatMap(([other, entry]) =>
            other !== slot && entry.key === own.key ? [other] : [],
          )
          expect(returned).toEqual(expect.arrayContaining(sameKey))
        }
      }),
      { numRuns: 60 },
    )
  })

  test('every slot within the chord and the width of a scale is returned at that scale', () => {
    fc.assert(
      fc.property(models, entries(40), fc.nat(10), (model, tickets, at) => {
        const { index, bySlot } = indexed(model, tickets)
        const scale = at % index.scales.length
        const { chord: limit, width } = index.scales[scale] ?? { chord: 0, width: 0 }
        const missing: Slot[] = []
        for (const [slot, own] of bySlot) {
          const returned = index.allNear(slot, scale)
          for (const [other, entry] of bySlot) {
            if (other === slot || entry.key !== own.key || !(limit === Infinity || chord(own, entry) < limit * 0.999))
              continue
            const apart = model.spans.length === 0 ? 0 : Math.abs((own.values[0] ?? 0) - (entry.values[0] ?? 0))
            if (!Number.isNaN(apart) && apart <= width && !returned.includes(other)) missing.push(other)
          }
        }
        expect(missing).toEqual([])
      }),
      { numRuns: 60 },
    )
  })
})

const NEAR: Model<string>['radius'] = { by: 'each', squared: Float64Array.of(0.001, 0.01, 0.1, 1), unknown: 'network' }

test('a slot without a place finds all of its network at every scale, though it is not in the index itself', () => {
  const model = models.map((one): Model<string> => ({ ...one, radius: NEAR, spans: [] }))
  fc.assert(
    fc.property(model, entries(20), (each, [one, ...tickets]) => {
      if (one === undefined) return
      const own = { ...one, place: undefined, network: 'n' }
      const { index, bySlot } = indexed(each, tickets, [own])
      const slot = tickets.length
      const into = new Int32Array(100)
      for (let scale = 0; scale < index.scales.length; scale += 1) {
        const shared = index.shared
          .grouped([slot], scale)
          .flatMap((sharing) => [...into.subarray(0, index.shared.read(sharing, scale, into))])
        for (const [other, { key, network }] of bySlot) {
          if (other === slot || key !== own.key || network !== own.network) continue
          expect(index.allNear(slot, scale)).toContain(other)
          expect(shared).toContain(other)
        }
      }
    }),
    { numRuns: 60 },
  )
})

test('a query reads at most the given number of slots, after those skipped, and reports that there are more', () => {
  const model: Model<string> = {
    levels: Float64Array.of(0),
    lastResortLevel: Infinity,
    teams: [{ name: 'team', max: 2, min: Uint16Array.of(2) }],
    fillForMs: 0,
    radius: undefined,
    spans: [],
    checks: undefined,
  }
  const ticket = {
    size: 1,
    since: NOW,
    priority: 0,
    key: '',
    place: undefined,
    network: undefined,
    values: [],
    facts: '',
  }
  const { index } = indexed(
    model,
    Array.from({ length: 100 }, (_, at) => ({ ...ticket, id: `t${at}` })),
  )
  const into = new Int32Array(100)
  const readFrom = (skip: number) => {
    index.query.startAround(0)
    expect(index.query.turnTo(0, 10, skip)).toBe(100)
    expect(index.query.cut).toBe(true)
    return [...into.subarray(0, index.query.next(into))]
  }
  expect(readFrom(20)).toEqual([20, 21, 22, 23, 24, 25, 26, 27, 28, 29])
  // Reading wraps around to the beginning, where the centre itself is left out.
  expect(readFrom(95)).toEqual([95, 96, 97, 98, 99, 1, 2, 3, 4])
})
