import { createBucket, Scheduler, type CallSlot } from '@muster/core/internal'
import { systemClock } from '@muster/core/clock'
import PQueue from 'p-queue'
import { atMost, median, type Figures } from '../figure.js'

const CALLS = 10_000
/** Number of calls that are started together. */
const TOGETHER = 100
const IN_FLIGHT = 256
const ROUNDS = 31
const OUT_OF_REACH = { limit: 1_000_000, windowMs: 1000 }

/** Schedules a job that does only what a request would report to the scheduler. */
type Schedule = () => Promise<unknown>

const job = async () => {}
const request = async (slot: CallSlot) => slot.written()

/** The compared schedulers. Each has an own queue. */
const variants = {
  'p-queue': (): Schedule => {
    const queue = new PQueue({ concurrency: IN_FLIGHT })
    return () => queue.add(job)
  },
  'p-queue, interval out of reach': (): Schedule => {
    const queue = new PQueue({
      concurrency: IN_FLIGHT,
      intervalCap: OUT_OF_REACH.limit,
      interval: OUT_OF_REACH.windowMs,
    })
    return () => queue.add(job)
  },
  muster: (): Schedule => {
    const scheduler = new Scheduler({ clock: systemClock, maxInFlight: IN_FLIGHT })
    return () => scheduler.run(request)
  },
  'muster, limit out of reach': (): Schedule => {
    const scheduler = new Scheduler({
      clock: systemClock,
      maxInFlight: IN_FLIGHT,
      limiter: createBucket(OUT_OF_REACH),
    })
    return () => scheduler.run(request)
  },
}

type Variant = keyof typeof variants
const names = Object.keys(variants) as Variant[]

/**
 * Measures the scheduler's time per call, without the job's, while no limit delays calls. Without a limit, as for
 * operations that have no documented limit, Muster is compared with plain p-queue. With a limit that is never reached,
 * it is compared with p-queue and p-queue's own limiter. The variants take turns, and the median counts.
 */
export async function scheduleCostFigures(): Promise<Figures> {
  const rounds: Record<Variant, number>[] = []
  for (let round = -3; round < ROUNDS; round += 1) {
    const microseconds = {} as Record<Variant, number>
    for (const name of names) microseconds[name] = await microsecondsPerCall(variants[name]())
    if (round >= 0) rounds.push(microseconds) // those before only warm up
  }
  const ratios = (name: Variant, other: Variant) => rounds.map((round) => round[name] / round[other])
  const times = (name: Variant) => ratios(name, 'p-queue')
  return {
    figures: [
      atMost('scheduler: time per call without a limit, against p-queue', times('muster'), 1.5, '×'),
      atMost(
        'scheduler: time per call with a limit out of reach, against p-queue with an interval out of reach',
        ratios('muster, limit out of reach', 'p-queue, interval out of reach'),
        1.5,
        '×',
      ),
    ],
    peers: {
      'scheduler: time per call, against p-queue': Object.fromEntries(
        names.map((name) => [name, Number(median(times(name)).toFixed(2))]),
      ),
      'scheduler: microseconds per call': Object.fromEntries(
        names.map((name) => [name, Number(median(rounds.map((round) => round[name])).toFixed(2))]),
      ),
    },
  }
}

async function microsecondsPerCall(schedule: Schedule): Promise<number> {
  const start = systemClock.now()
  for (let made = 0; made < CALLS; made += TOGETHER) await Promise.all(Array.from({ length: TOGETHER }, schedule))
  return ((systemClock.now() - start) * 1000) / CALLS
}
