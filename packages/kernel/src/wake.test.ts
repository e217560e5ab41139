import { expect, test } from 'vitest'
import { createPool, STEP } from './pool.js'

test('a ticket with a place is woken by one of its network without, the first that comes', () => {
  const pool = createPool<string>({
    levels: Float64Array.of(0),
    lastResortLevel: Infinity,
    teams: [{ name: 'team', max: 2, min: Uint16Array.of(2) }],
    fillForMs: 0,
    radius: { by: 'each', squared: Float64Array.of(0.01), unknown: 'network' },
    spans: [],
    checks: undefined,
  })
  const add = (id: string, place: [number, number, number] | undefined, network: string) =>
    pool.add({ id, size: 1, since: 0, priority: 0, key: '', place, network, values: [], facts: '' })
  const lisa = add('lisa', [1, 0, 0], 'home')
  add('far', [0, 1, 0], 'elsewhere')
  expect(pool.group(1).length).toBe(0)
  const tom = add('tom', undefined, 'home')
  expect([...pool.group(2)].map(({ slots }) => [...slots])).toEqual([[lisa, tom]])
})

test('a relaxed ticket is tried again, even if another search read its level in between', () => {
  const pool = createPool<string>({
    levels: Float64Array.of(0, 5000),
    lastResortLevel: Infinity,
    teams: [{ name: 'team', max: 2, min: Uint16Array.of(2, 2) }],
    fillForMs: 0,
    radius: undefined,
    spans: [{ by: 'each', limit: Float64Array.of(1, 4) }],
    checks: { pair: (one, other) => one === other, part: undefined, whole: undefined, unevenness: undefined },
  })
  const nobody = { size: 1, priority: 0, key: '', place: undefined, network: undefined }
  const add = (id: string, skill: number, since: number, taste: string) =>
    pool.add({ ...nobody, id, since, values: [skill, skill], facts: taste })
  const relaxing = [add('a', 1, 0, 'x'), add('b', 4, 0, 'x')]
  expect([...pool.group(1000)]).toEqual([])
  const round = pool.round(5001, { anchors: [add('c', 2, 5001, 'y')] })
  while (round.step(STEP));
  expect([...round.take()]).toEqual([])
  expect([...pool.group(5250)]).toMatchObject([{ slots: relaxing }])
})

test('a ticket that was in the index before its first round is found there at the limits that it has come to', () => {
  const pool = createPool<string>({
    levels: Float64Array.of(0, 5000),
    lastResortLevel: Infinity,
    teams: [{ name: 'team', max: 2, min: Uint16Array.of(2, 2) }],
    fillForMs: 0,
    radius: undefined,
    spans: [{ by: 'each', limit: Float64Array.of(1, 40) }],
    checks: { pair: () => true, part: undefined, whole: undefined, unevenness: undefined },
  })
  const add = (id: string, skill: number, since: number) =>
    pool.add({
      id,
      size: 1,
      since,
      priority: 0,
      key: '',
      place: undefined,
      network: undefined,
      values: [skill, skill],
      facts: '',
    })
  const younger = add('younger', 0, 500)
  // A round around nobody adds all to the index.
  while (pool.round(600, { anchors: [] }).step(Infinity));
  const older = add('older', 30, 0)
  expect([...pool.group(6000)].map(({ slots }) => [...slots])).toEqual([[older, younger]])
})

test('an opening takes two, of whom one only fits beside the other, who is at the last resort', () => {
  const pool = createPool<string>({
    levels: Float64Array.of(0, 100),
    lastResortLevel: 1,
    teams: [{ name: 'team', max: 3, min: Uint16Array.of(3, 3) }],
    fillForMs: 0,
    radius: undefined,
    spans: [{ by: 'each', limit: Float64Array.of(0, Infinity) }],
    checks: {
      pair: undefined,
      part: undefined,
      whole: undefined,
      unevenness: undefined,
      quotas: [{ countOf: (role) => (role === 'healer' ? 1 : 0), teams: [0], least: Uint16Array.of(1, 1) }],
    },
  })
  const nobody = { priority: 0, key: '', place: undefined, network: undefined }
  const opening = pool.addOpening({
    ...nobody,
    id: 'opening',
    since: 1000,
    values: [0, 0],
    facts: '',
    rooms: [2],
    present: [['tank']],
  })
  // The healer is too far from the opening, and without a healer nobody may join.
  const healer = pool.add({ ...nobody, id: 'healer', size: 1, since: 1000, values: [1, 1], facts: 'healer' })
  const last = pool.add({ ...nobody, id: 'last', size: 1, since: 900, values: [0, 0], facts: 'tank' })
  expect([...pool.group(1000)]).toMatchObject([{ opening, slots: [last, healer] }])
})
