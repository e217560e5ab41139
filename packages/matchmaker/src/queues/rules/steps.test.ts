import { expect, test } from 'vitest'
import { createPool } from '@muster/kernel'
import { compileQueue } from '../compile.js'
import { defineQueue } from '../queue.js'
import type { RelaxingLimit } from '../rule-parts/relaxing.js'

const NOW = 1_000_000
const TICK_MS = 250

/** Returns the milliseconds until two tickets that arrived together and differ by `difference` are matched. */
function waitOf(max: RelaxingLimit, difference: number): number | undefined {
  const compiled = compileQueue(
    defineQueue({
      name: 'duel',
      matchSize: 2,
      rules: [{ kind: 'difference', attribute: 'skill', max }],
      deploy: { application: 'game', version: '1' },
    }),
  )
  const pool = createPool(compiled.model)
  for (const skill of [0, difference]) {
    const player = { id: `p${skill}`, attributes: { skill }, roles: [], latencies: {}, avoid: [] }
    pool.add(
      compiled.entryOf({
        id: `t${skill}`,
        createdAt: NOW,
        priority: 0,
        players: [player],
        place: undefined,
        network: undefined,
      }),
    )
  }
  for (let waited = 0; waited <= 60_000; waited += TICK_MS) if (pool.group(NOW + waited).length > 0) return waited
  return undefined
}

const line = { from: 100, to: 400, overMs: 30_000 }

test.each([
  // 16 steps of 18.75, one every 1,875 ms
  [line, 100, 0],
  [line, 118.75, 2000],
  [line, 205, 11_250],
  [line, 399, 30_000],
  [
    [
      { afterMs: 0, value: 100 },
      { afterMs: 1000, value: 101 },
      { afterMs: 2000, value: 180 },
      { afterMs: 9000, value: 400 },
    ],
    150,
    2000,
  ],
  [
    [
      { afterMs: 0, value: 100 },
      { afterMs: 1000, value: 101 },
      { afterMs: 2000, value: 180 },
      { afterMs: 9000, value: 400 },
    ],
    101,
    1000,
  ],
] as const)(
  'a pair matches in the first tick in which its limit allows it: %j, %d apart, after %d ms',
  (max, apart, waited) => {
    expect(waitOf(max, apart)).toBe(waited)
  },
)

/** Returns the milliseconds at which a healer who came at 0 is matched with a tank whose skill differs by 15. */
function matchedAt(tankAt: number, max: RelaxingLimit): number | undefined {
  const compiled = compileQueue(
    defineQueue({
      name: 'duo',
      matchSize: 2,
      rules: [
        { kind: 'roles', roles: { tank: 1, healer: 1 } },
        { kind: 'difference', attribute: 'skill', max },
      ],
      deploy: { application: 'game', version: '1' },
    }),
  )
  const pool = createPool(compiled.model)
  const add = (role: string, skill: number, createdAt: number) => {
    const player = { id: role, attributes: { skill }, roles: [role], latencies: {}, avoid: [] }
    const nowhere = { priority: 0, place: undefined, network: undefined }
    pool.add(compiled.entryOf({ id: role, createdAt, players: [player], ...nowhere }))
  }
  for (let time = 0; time <= 60_000; time += TICK_MS) {
    if (time === 0) add('healer', 16, NOW)
    if (time === tankAt) add('tank', 1, NOW + time)
    if (pool.group(NOW + time).length > 0) return time
  }
  return undefined
}

test.each([
  [0, { from: 20, to: 40, startMs: 4000, overMs: 7000 }],
  [6000, { from: 20, to: 40, startMs: 4000, overMs: 7000 }],
  [12_000, { from: 20, to: 40, startMs: 4000, overMs: 7000 }],
  [6000, { from: 20, to: 40, overMs: 30_000 }],
  [15_000, { from: 100, to: 400, overMs: 30_000 }],
] as const)(
  'a ticket with the missing role matches as soon as it arrives, after %d ms, under the limit %j',
  (at, max) => {
    expect(matchedAt(at, max)).toBe(at)
  },
)
