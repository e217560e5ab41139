import { seededRandom } from '@muster/core/clock'
import { describe, expect, test } from 'vitest'
import { createQueueWaits, type QueueWaits } from './queue-waits.js'
import { regionOf } from './regions.js'

const TARGET_MS = 20_000
const aim = { targetWaitMs: TARGET_MS, mostMs: 5 * TARGET_MS }
const berlin = { latitude: 52.5, longitude: 13.4 }
const sydney = { latitude: -33.9, longitude: 151.2 }
const START = 1_800_000_000_000

interface Waiting {
  readonly createdAt: number
  readonly place: typeof berlin
}

/** Lets tickets arrive in a queue that finds matches faster if more tickets arrive or limits are looser. */
function queueOf(waits: QueueWaits, random = seededRandom(1)) {
  const waiting = new Set<Waiting>()
  let now = START
  return {
    /**
     * Runs for some seconds.
     * @param load tickets per second by location. Returns the p90 of the wait of matched tickets.
     */
    play: (seconds: number, load: ReadonlyMap<typeof berlin, number>, isMatching = true) => {
      const waited = new Map([...load.keys()].map((place): [typeof berlin, number[]] => [place, []]))
      for (const end = now + seconds * 1000; now < end; now += 1000) {
        for (const [place, rate] of load) {
          for (let left = rate; random() < left; left -= 1) {
            const ticket = { createdAt: now, place }
            waiting.add(ticket)
            waits.cellOf({ place, players: 1 }, now).enter(now, 1, now)
          }
        }
        const headStarts = waits.headStarts(now)
        for (const ticket of waiting) {
          const { createdAt, place } = ticket
          const ahead = headStarts?.[regionOf(place)] ?? 0
          const looseness = Math.min(5, Math.max(0, (now - createdAt + ahead) / TARGET_MS))
          if (!isMatching || random() > (load.get(place) ?? 0) * 0.003 * Math.exp(1.5 * looseness)) continue
          waiting.delete(ticket)
          waits.cellOf({ place, players: 1 }, now).leave(createdAt, 1, now, true)
          waited.get(place)?.push(now - createdAt)
        }
      }
      return (place: typeof berlin) => {
        const all = (waited.get(place) ?? []).toSorted((a, b) => a - b)
        return (all[Math.floor(0.9 * all.length)] ?? Number.NaN) / TARGET_MS
      }
    },
    now: () => now,
  }
}

const steered = () => {
  const waits = createQueueWaits()
  waits.aim(aim)
  return waits
}

describe('a queue with a target wait', () => {
  test('a target wait keeps waits at the target in each region, and again soon after a change of load', () => {
    const waits = steered()
    const { play } = queueOf(waits)
    play(
      600,
      new Map([
        [berlin, 6],
        [sydney, 0.6],
      ]),
    )
    const busy = play(
      900,
      new Map([
        [berlin, 6],
        [sydney, 0.6],
      ]),
    )
    play(
      240,
      new Map([
        [berlin, 0.6],
        [sydney, 0.6],
      ]),
    )
    const quiet = play(
      900,
      new Map([
        [berlin, 0.6],
        [sydney, 0.6],
      ]),
    )
    const found = [busy(berlin), busy(sydney), quiet(berlin), quiet(sydney)]
    for (const p90 of found) expect(Math.abs(p90 - 1), found.join()).toBeLessThan(0.2)
  })

  test('a queue with a target wait reports the relaxation head starts that it uses', () => {
    const waits = steered()
    const { play } = queueOf(waits)
    expect(waits.steering()).toBeUndefined()
    play(
      600,
      new Map([
        [berlin, 6],
        [sydney, 0.6],
      ]),
    )
    const { targetWaitMs, regions = [], recentP90Ms } = waits.steering() ?? {}
    expect(targetWaitMs).toBe(TARGET_MS)
    expect(regions.map(({ region }) => region)).toEqual([
      { latitude: 45, longitude: 0 },
      { latitude: -45, longitude: 150 },
    ])
    const [busy, quiet] = regions
    expect(quiet?.headStartMs).toBeGreaterThan((busy?.headStartMs ?? 0) + TARGET_MS / 2)
    expect(recentP90Ms).toBeGreaterThan(0.7 * TARGET_MS)
    expect(recentP90Ms).toBeLessThan(1.3 * TARGET_MS)
  })
})

describe('the head start of a queue with a target wait', () => {
  test.each<[string, (waits: QueueWaits, isHeld: boolean, now: number) => void]>([
    ['while the queue is paused', (waits, isHeld, now) => waits.setPaused(isHeld, now)],
    ['while there are no servers for matches', (waits, isHeld, now) => waits.setShort(isHeld, now)],
  ])('the relaxation head start of a queue with a target wait is not changed by waits %s', (_, hold) => {
    const waits = steered()
    const { play, now } = queueOf(waits)
    play(600, new Map([[berlin, 3]]))
    const before = waits.steering()?.headStartMs ?? 0
    hold(waits, true, now())
    play(300, new Map([[berlin, 3]]), false)
    expect(waits.steering()?.headStartMs).toBe(before)
    hold(waits, false, now())
    play(10, new Map([[berlin, 3]]))
    expect(Math.abs((waits.steering()?.headStartMs ?? 0) - before)).toBeLessThan(TARGET_MS / 2)
  })

  test('a queue defined again keeps its relaxation head start only with the same target wait', () => {
    const waits = steered()
    const { play } = queueOf(waits)
    play(300, new Map([[berlin, 3]]))
    const before = waits.steering()
    waits.aim({ ...aim })
    expect(waits.steering()).toEqual(before)
    waits.aim({ targetWaitMs: 40_000, mostMs: 200_000 })
    play(2, new Map([[berlin, 3]]))
    const { headStartMs = 0 } = waits.steering() ?? {}
    expect(Math.abs(headStartMs - 40_000)).toBeLessThan(8000)
    waits.aim(undefined)
    expect(waits.steering()).toBeUndefined()
  })
})
