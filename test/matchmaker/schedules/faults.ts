import type { Random } from '@muster/core/clock'
import type { Fault } from '@muster/emulator'

/**
 * The faults of a schedule: how often each operation fails, from 0 to 1, and how creates and their deployments fail.
 */
export interface BadDay {
  readonly create: number
  readonly others: number
  /** Probability that a stop fails besides. */
  readonly stops: number
  readonly webhooks: number
  /** The time span in which the service refuses everything. */
  readonly storm: Span
  /** The time span in which the store cannot be written. */
  readonly diskFull: Span
}

/** Milliseconds from the start. */
type Span = readonly [fromMs: number, toMs: number]

export const isWithin = ([fromMs, toMs]: Span, atMs: number) => atMs >= fromMs && atMs < toMs

export const pick = <T>(random: Random, ...values: readonly T[]): T => values[Math.floor(random() * values.length)] as T
const sometimes = (random: Random, share: number) => random() < share

export function drawDay(random: Random): BadDay {
  const span = (share: number): Span => {
    const from = random() * 5000
    return sometimes(random, share) ? [from, from + random() * 4000] : [0, 0]
  }
  return {
    create: pick(random, 0, 0.2, 0.5),
    others: pick(random, 0, 0.05, 0.25),
    stops: pick(random, 0, 0, 0.8),
    webhooks: pick(random, 0, 0.3, 1),
    storm: span(0.3),
    diskFull: span(0.3),
  }
}

type What = Omit<Fault, 'operation' | 'nth' | 'probability' | 'count'>

/**
 * The fault of one request.
 * @param atMs milliseconds since the start.
 */
export function drawFault(random: Random, day: BadDay, operation: string, atMs: number): What | undefined {
  if (isWithin(day.storm, atMs)) {
    return sometimes(random, 0.5) ? { status: 429 } : { status: 429, retryAfterMs: 1000 }
  }
  if (operation === 'deployments.stop' && sometimes(random, day.stops)) return { status: 500 }
  if (operation !== 'deployments.create') return sometimes(random, day.others) ? anyFault(random) : undefined
  const webhooks = sometimes(random, day.webhooks) ? webhookFault(random) : undefined
  const fault = sometimes(random, day.create) ? createFault(random) : undefined
  return webhooks === undefined ? fault : { ...fault, ...webhooks }
}

const anyFault = (random: Random): What =>
  pick<What>(
    random,
    { drop: 'before' },
    { drop: 'after' },
    { status: 500 },
    { status: 503, effect: true },
    { status: 429, retryAfterMs: 500 },
    { body: 'malformed' },
    { body: 'html' },
    { delayMs: random() * 3000 },
  )

const createFault = (random: Random): What =>
  pick<What>(
    random,
    { drop: 'before' },
    { drop: 'after' },
    { status: 500 },
    { status: 503, effect: true },
    { status: 429 },
    { status: 400, message: 'no' },
    { body: 'truncated' },
    { body: 'empty' },
    { delayMs: random() * 5000 },
    { delayMs: random() * 5000, drop: 'after' },
    { deployment: 'no capacity' },
    { deployment: 'no capacity' },
    { deployment: 'no capacity', drop: 'after' },
    { deployment: 'error' },
    { deployment: 'error', drop: 'after' },
    { deployment: 'stay deploying' },
    { deployment: 'stay deploying', drop: 'after' },
  )

const webhookFault = (random: Random): What =>
  pick<What>(
    random,
    { webhooks: 'lost' },
    { webhooks: 'early' },
    { webhooks: 'early', drop: 'after' },
    { webhooks: 'repeated' },
    { webhooks: 'forged' },
    { webhooks: { lateMs: random() * 4000 } },
  )
