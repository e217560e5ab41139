import { expect, test } from 'vitest'
import { createColumns, SETTLED } from './columns.js'
import type { Draft } from './draft.js'
import { Effort } from './effort.js'
import type { Neighbours } from './neighbours.js'
import { createPool, STEP } from './pool.js'
import { createWaking } from './wake.js'

test('with too many slots to read, a part of the settled tickets is woken each time, until all have been', () => {
  const columns = createColumns(0)
  const row = { since: 0, priority: 0, key: '', place: undefined, values: [] }
  const settled = Int32Array.from({ length: 1200 }, (_, each) => columns.put({ ...row, id: `t${each}` }, 0, -1, 1))
  const draft = { begin: () => true, admits: () => true } satisfies Partial<Draft>
  // There are always more slots in the lists than are read.
  const among = {
    scales: [{ chord: Infinity, width: Infinity, level: 0, from: 0, widths: [] }],
    shared: { grouped: () => [{ span: 0, cell: 0, band: 0, key: 0, slots: [0] }], read: () => Infinity },
  }
  const effort = new Effort(() => true)
  const isPresent = () => true
  const wake = createWaking({
    columns,
    draft: draft as unknown as Draft,
    searchRadius: () => 0,
    isTooFarApart: () => false,
    effort,
    isPresent,
  })

  const woken = new Set<number>()
  for (const many of [500, 1000, 1200]) {
    columns.standing.fill(SETTLED)
    const now: number[] = []
    let most = 0
    let before = 0
    for (const _ of wake(Int32Array.of(0), settled.length, among as unknown as Neighbours, (slot) => now.push(slot))) {
      most = Math.max(most, now.length - before)
      before = now.length
    }
    // It pauses before all of them are woken where time is up.
    expect(most).toBeLessThan(600)
    expect(now.length).toBe(500)
    for (const slot of now) woken.add(slot)
    expect(woken.size).toBe(many)
  }
})

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
