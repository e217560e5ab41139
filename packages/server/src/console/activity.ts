import type { Matchmaker, Ticket } from '@muster/matchmaker'

/** Sums recent values. By default the sum covers the last minute, and a second's values expire together. */
export class RecentSum {
  readonly #pieces: Float64Array
  readonly #pieceMs: number
  /** Number of the latest piece of time that has a value. */
  #latest = Number.NEGATIVE_INFINITY

  constructor(pieces = 60, pieceMs = 1000) {
    this.#pieces = new Float64Array(pieces)
    this.#pieceMs = pieceMs
  }

  add(now: number, count = 1): void {
    this.#pass(now)
    const index = this.#latest % this.#pieces.length
    this.#pieces[index] = (this.#pieces[index] as number) + count
  }

  within(now: number): number {
    this.#pass(now)
    return this.#pieces.reduce((sum, piece) => sum + piece, 0)
  }

  /** Clears the pieces that have become too old at the time `now`. */
  #pass(now: number): void {
    const piece = Math.floor(now / this.#pieceMs)
    const { length } = this.#pieces
    for (let passed = Math.max(this.#latest + 1, piece - length + 1); passed <= piece; passed += 1)
      this.#pieces[passed % length] = 0
    this.#latest = Math.max(this.#latest, piece)
  }
}

/**
 * Upper bound of the first bucket in milliseconds. Each further bucket is 8 % wider than the previous one, up to a day.
 */
const FIRST_MS = 50
const GROWTH = Math.log(1.08)
const BUCKETS = 1 + Math.ceil(Math.log((24 * 3_600_000) / FIRST_MS) / GROWTH)

const bucketOf = (ms: number): number =>
  ms <= FIRST_MS ? 0 : Math.min(BUCKETS - 1, 1 + Math.floor(Math.log(ms / FIRST_MS) / GROWTH))
/** Returns the middle of a bucket in milliseconds. A wait in the bucket differs from it by at most 4 %. */
const middleOf = (bucket: number): number =>
  bucket === 0 ? FIRST_MS / 2 : FIRST_MS * Math.exp((bucket - 0.5) * GROWTH)

/** Counts waits by buckets. A histogram is so small that the console keeps one for each ten seconds of an hour. */
export class WaitHistogram {
  readonly #counts = new Uint32Array(BUCKETS)
  #total = 0

  get total(): number {
    return this.#total
  }

  add(waitMs: number): void {
    const bucket = bucketOf(waitMs)
    this.#counts[bucket] = (this.#counts[bucket] as number) + 1
    this.#total += 1
  }

  /** Adds the counts of another histogram (`sign` 1) or subtracts them (-1). */
  merge(other: WaitHistogram, sign: 1 | -1): void {
    for (let bucket = 0; bucket < BUCKETS; bucket += 1) {
      this.#counts[bucket] = (this.#counts[bucket] as number) + sign * (other.#counts[bucket] as number)
    }
    this.#total += sign * other.#total
  }

  /** Returns the wait in whole milliseconds that the share `share` of all waits does not exceed; null without waits. */
  quantile(share: number): number | null {
    if (this.#total === 0) return null
    const rank = Math.max(1, Math.ceil(share * this.#total))
    let seen = 0
    for (let bucket = 0; bucket < BUCKETS; bucket += 1) {
      seen += this.#counts[bucket] as number
      if (seen >= rank) return Math.round(middleOf(bucket))
    }
    return null
  }
}

/** Counts the events of a queue. @param steps number of steps in an hour. */
function createQueueActivity(steps: number) {
  const arrivals = new RecentSum()
  const matches = new RecentSum()
  const lastHour = new WaitHistogram()
  /**
   * The waits of each step of the last hour, the oldest first. Undefined for a step without waits, which then takes no
   * memory.
   */
  const past: (WaitHistogram | undefined)[] = []
  let step = { arrivals: 0, matches: 0, waits: undefined as WaitHistogram | undefined }

  return {
    arrivals,
    matches,
    /** Waits of the tickets matched within the last hour. */
    lastHour,
    arrived: (now: number) => {
      arrivals.add(now)
      step.arrivals += 1
    },
    matched: (now: number) => {
      matches.add(now)
      step.matches += 1
    },
    /** Counts the wait of a matched ticket. */
    waited: (waitMs: number) => {
      lastHour.add(waitMs)
      step.waits ??= new WaitHistogram()
      step.waits.add(waitMs)
    },
    /** Ends a step, and returns the step's counts. */
    endStep: () => {
      const ended = step
      step = { arrivals: 0, matches: 0, waits: undefined }
      past.push(ended.waits)
      const oldest = past.length > steps ? past.shift() : undefined
      if (oldest !== undefined) lastHour.merge(oldest, -1)
      return ended
    },
  }
}

type QueueActivity = ReturnType<typeof createQueueActivity>

/** The counts of the matchmaker's events, by queue. */
export type ActivityCounts = ReturnType<typeof createActivity>

export function createActivity(on: Matchmaker['on'], now: () => number, steps: number) {
  const queues = new Map<string, QueueActivity>()
  const creates = new RecentSum()
  const of = (name: string): QueueActivity => {
    const known = queues.get(name)
    if (known !== undefined) return known
    const made = createQueueActivity(steps)
    queues.set(name, made)
    return made
  }
  /** Counts the waits of matched tickets. Private matches are omitted, because their players do not wait for others. */
  const waited = (queue: QueueActivity, tickets: readonly Ticket[]) => {
    for (const { createdAt, matchedAt = createdAt, privateMatch } of tickets)
      if (privateMatch === undefined) queue.waited(matchedAt - createdAt)
  }

  const endings = [
    on('matchFound', ({ queue, tickets }) => {
      const activity = of(queue)
      activity.matched(now())
      waited(activity, tickets)
    }),
    on('backfillJoined', ({ queue, tickets }) => waited(of(queue), tickets)),
    on('deploymentCreated', () => creates.add(now())),
  ]
  return {
    of,
    /** Counts the arrival of a ticket, by the names of its queues. Any process may have created the ticket. */
    arrived: (names: readonly string[]) => {
      for (const name of names) of(name).arrived(now())
    },
    /** The creates that the deployment service accepted. */
    creates,
    /** Removes the counts of queues that are not in `names`, because they do not exist any more. */
    keep: (names: readonly string[]) => {
      for (const name of queues.keys()) if (!names.includes(name)) queues.delete(name)
    },
    close: () => {
      for (const end of endings) end()
    },
  }
}
