import { createBucket, createScheduler, type Slot } from '@muster/core'
import { systemClock } from '@muster/core/clock'
import PQueue from 'p-queue'
import { atMost, median, type Figures } from '../figure.js'

const CALLS = 10_000
/** How many are made at a time. */
const TOGETHER = 100
const ROUNDS = 25
const IN_FLIGHT = 256

type Run = (job: (slot: Partial<Slot>) => Promise<void>) => Promise<unknown>

/** Each makes a fresh queue. */
const variants = {
  'p-queue': (): Run => {
    const queue = new PQueue({ concurrency: IN_FLIGHT })
    return (job) => queue.add(job)
  },
  'p-queue with an interval': (): Run => {
    const queue = new PQueue({ concurrency: IN_FLIGHT, interval: 1000, intervalCap: 1_000_000 })
    return (job) => queue.add(job)
  },
  'muster without a limit': (): Run => {
    const scheduler = createScheduler({ clock: systemClock, maxInFlight: IN_FLIGHT })
    return (job) => scheduler.run(job)
  },
  'muster with a limit': (): Run => {
    const limiter = createBucket({ limit: 1_000_000, windowMs: 1000 })
    const scheduler = createScheduler({ clock: systemClock, maxInFlight: IN_FLIGHT, limiter })
    return (job) => scheduler.run(job)
  },
}
type Variant = keyof typeof variants
const names = Object.keys(variants) as Variant[]

/** Time per scheduled call whose job does nothing, while no limit is in reach. The variants take turns. */
export async function scheduleCostFigures(): Promise<Figures> {
  const rounds: Record<Variant, number>[] = []
  for (let round = -3; round < ROUNDS; round += 1) {
    const microseconds = {} as Record<Variant, number>
    for (const name of names) microseconds[name] = await microsecondsPerCall(variants[name]())
    if (round >= 0) rounds.push(microseconds) // the first few only warm up
  }
  const ratio = (ours: Variant, theirs: Variant) => median(rounds.map((round) => round[ours] / round[theirs]))
  return {
    figures: [
      atMost('scheduler: time per call with no limit, against p-queue', ratio('muster without a limit', 'p-queue'), 1.5, '×'),
      atMost('scheduler: time per call with a limit out of reach, against p-queue with one', ratio('muster with a limit', 'p-queue with an interval'), 1.5, '×'),
    ],
    peers: {
      'scheduler: microseconds per call': Object.fromEntries(names.map((name) => [name, Number(median(rounds.map((round) => round[name])).toFixed(2))])), x: ratio('muster with a limit','p-queue')
    },
  }
}

async function microsecondsPerCall(run: Run): Promise<number> {
  const job = async (slot: Partial<Slot>) => slot.written?.()
  const start = systemClock.now()
  for (let made = 0; made < CALLS; made += TOGETHER) await Promise.all(Array.from({ length: TOGETHER }, () => run(job)))
  return ((systemClock.now() - start) * 1000) / CALLS
}
