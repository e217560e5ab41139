import { seededRandom, systemClock } from '@muster/core/clock'
import { atLeast, atMost, type Figures } from '../figure.js'
import { contenders, type Limited } from './contenders.js'
import { scheduleCostFigures } from './schedule-cost.js'
import { serverModels } from './server-models.js'

const REQUESTS = 2000
/**
 * Number of requests that are sent before the measurement through another limiter of the same kind, so that its code is
 * compiled.
 */
const WARM_UP = 300
const LIMIT = 400
const WINDOW_MS = 1000
/** Delay in milliseconds in one direction. A round trip takes 5 to 35 ms. */
const DELAY_MS = { min: 2.5, max: 17.5 }

interface Result {
  readonly refused: Readonly<Record<string, number>>
  /** Used share of the limit, from 0 to 1. */
  readonly reached: number
  /** Average milliseconds by which timers were late. Late timers on a busy machine lower the rate. */
  readonly timersLateMs: number
}

interface Run {
  /** Times in milliseconds at which requests reached the server, in order. */
  readonly arrivals: readonly number[]
  readonly timersLateMs: number
}

/**
 * Sends the same 2,000 requests through each limiter in real time, one limiter after another, over a simulated network
 * with random delays. A request arrives when the network's delay has passed since it was written, however busy this
 * process is meanwhile. All three server models then judge the same arrivals. No limiter learns of a refusal, repeats a
 * request or slows down because of one.
 */
export async function schedulerFigures(): Promise<Figures> {
  const results: Record<string, Result> = {}
  for (const [name, create] of Object.entries(contenders)) {
    await sendThrough(create(LIMIT), WARM_UP)
    results[name] = judge(await sendThrough(create(LIMIT), REQUESTS))
  }
  const { muster } = results
  if (muster === undefined) throw new Error('muster is not among the contenders')
  const cost = await scheduleCostFigures()
  return {
    figures: [
      ...Object.entries(muster.refused).map(([model, refused]) =>
        atMost(`scheduler: requests refused by a ${model}`, refused, 0, 'requests'),
      ),
      atLeast('scheduler: rate reached', muster.reached, 0.97, 'of the limit'),
      ...cost.figures,
    ],
    peers: {
      'scheduler: refused, and rate reached': Object.fromEntries(Object.entries(results).map(rounded)),
      ...cost.peers,
    },
  }
}

async function sendThrough(limited: Limited, count: number): Promise<Run> {
  const random = seededRandom(1)
  const delay = () => DELAY_MS.min + random() * (DELAY_MS.max - DELAY_MS.min)
  const arrivals: number[] = []
  let lateMs = 0
  const requests = Array.from({ length: count }, () =>
    limited(async (slot) => {
      slot.written()
      const arrival = systemClock.now() + delay()
      const answer = arrival + delay()
      arrivals.push(arrival)
      await systemClock.sleep(answer - systemClock.now())
      lateMs += systemClock.now() - answer
    }),
  )
  await Promise.all(requests)
  return { arrivals: arrivals.toSorted((a, b) => a - b), timersLateMs: lateMs / count }
}

function judge({ arrivals, timersLateMs }: Run): Result {
  const models = Object.entries(serverModels)
  return {
    refused: Object.fromEntries(models.map(([name, refusedBy]) => [name, refusedBy(arrivals, LIMIT, WINDOW_MS)])),
    reached: WINDOW_MS / meanTimeOfLimit(arrivals),
    timersLateMs,
  }
}

const rounded = ([name, { refused, reached, timersLateMs }]: [string, Result]) => [
  name,
  { refused, reached: Number(reached.toFixed(3)), timersLateMs: Number(timersLateMs.toFixed(1)) },
]

/**
 * Returns the mean time within which `limit` further requests arrive. It is the same for bursts and for an even flow.
 */
function meanTimeOfLimit(arrivals: readonly number[]): number {
  const later = arrivals.slice(LIMIT)
  return later.reduce((sum, at, index) => sum + at - (arrivals[index] as number), 0) / later.length
}
