import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createManualClock } from '../time.js'
import { createBucket } from './token-bucket.js'
import type { Limiter } from './limiter-types.js'
import { Scheduler } from './scheduler.js'
import { simulatedRequest } from './simulation.fixture.js'
import {
  service,
  smallService,
  type Service,
  type Process,
  processes,
  refusals,
  none,
  countedWith,
  ours,
} from './processes.fixture.js'

describe('the limit that a server counts', () => {
  test('property: a server never counts more requests than its limit, even if requests are lost', () => {
    fc.assert(
      fc.property(service, (scenario) => {
        expect(refusals(countedWith(ours, scenario), scenario)).toEqual(none)
      }),
      { numRuns: 400 },
    )
  })

  test('property: the scheduler keeps requests within the limit of a server, and every call settles', async () => {
    await fc.assert(
      fc.asyncProperty(smallService, async (scenario) => {
        const { limit, windowMs, jitterMs } = scenario
        const clock = createManualClock()
        const counted: number[] = []
        let unsettled = 0
        for (const { share, burst, calls, fate } of processes(scenario)) {
          const scheduler = new Scheduler({
            clock,
            limiter: createBucket({ limit, windowMs, jitterMs, share, burst }),
          })
          let n = 0
          const settled = () => {
            unsettled -= 1
          }
          for (const at of calls) {
            unsettled += 1
            const call = () =>
              scheduler.run((slot) => simulatedRequest(clock, fate(n++), (time) => counted.push(time))(slot))
            void clock.sleep(at).then(call).then(settled, settled)
          }
        }
        while (await clock.next());
        expect(unsettled).toBe(0)
        expect(refusals(counted, scenario)).toEqual(none)
      }),
      { numRuns: 30 },
    )
  })
})

/** Plausible rules that violate the limit. They show that the simulation can detect a violation. */
describe('the limit in an adverse network', () => {
  /** One process whose requests arrive alternately late and on time, with a slow server. */
  const adverse: Service = {
    limit: 4,
    windowMs: 1000,
    jitterMs: 50,
    phase: 0,
    clients: [
      {
        weight: 1,
        wayOutMs: 20,
        wayBackMs: 20,
        weather: 'late and on time by turns',
        thinkMs: 400,
        connectMs: 0,
        losses: false,
        burst: undefined,
        bursts: [[0, 60]],
        seed: 1,
      },
    ],
  }
  const refused = (create: (scenario: Service, process: Process) => Limiter) =>
    refusals(countedWith(create, adverse), adverse)

  test('the bucket keeps the limit in an adverse network', () => expect(refused(ours)).toEqual(none))

  test('the limit is exceeded by a bucket whose jitterMs is below the real jitter', () => {
    expect(refused((scenario, process) => ours({ ...scenario, jitterMs: 40 }, process)).slidingLog).toBeGreaterThan(0)
  })

  test('the limit is exceeded if tokens return a window after the request is written', () => {
    const fromWritten = (scenario: Service, process: Process): Limiter => {
      const bucket = ours(scenario, process)
      return {
        ...bucket,
        reserve: (now) => {
          const permit = bucket.reserve(now)
          if (typeof permit !== 'object' || !('release' in permit)) return permit
          return { written: (at) => permit.answered(at), answered: () => {}, release: (at) => permit.release(at) }
        },
      }
    }
    expect(refused(fromWritten).slidingLog).toBeGreaterThan(0)
  })

  test('the limit is exceeded if the smallest round trip is subtracted from the time of the answer', () => {
    expect(refused(({ limit, windowMs }) => smallestRoundTrip(limit, windowMs, 50)).slidingLog).toBeGreaterThan(0)
  })
})

/**
 * A limiter whose tokens become free one window after the earlier of `answered − smallest round trip` and `written +
 * bound`.
 */
function smallestRoundTrip(limit: number, windowMs: number, boundMs: number): Limiter {
  const backAt = new Array<number>(limit).fill(0)
  let smallest = Number.POSITIVE_INFINITY
  return {
    reserve: (now) => {
      const token = backAt.indexOf(Math.min(...backAt))
      const at = backAt[token] as number
      if (at > now) return Math.min(at, now + windowMs)
      let writtenAt = now
      backAt[token] = Number.POSITIVE_INFINITY
      return {
        written: (written) => {
          writtenAt = written
          backAt[token] = written + boundMs + windowMs
        },
        answered: (answered) => {
          smallest = Math.min(smallest, answered - writtenAt)
          backAt[token] = Math.min(backAt[token] as number, answered - smallest + windowMs)
        },
        release: () => {},
      }
    },
    throttled: () => {},
    inspect: () => ({ tokens: 0, rate: limit }),
  }
}
