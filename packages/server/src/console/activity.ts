import type { Matchmaker, Ticket } from '@muster/matchmaker'

/** The sum of recent values, in pieces: by default of the last minute, second by second. */
export class RecentSum {
  readonly #pieces: Float64Array
  readonly #pieceMs: number
  /** The latest piece. */
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

  /** Removes old pieces. */
  #pass(now: number): void {
    const piece = Math.floor(now / this.#pieceMs)
    const { length } = this.#pieces
    for (let passed = Math.max(this.#latest + 1, piece - length + 1); passed <= piece; passed += 1)
      this.#pieces[passed % length] = 0
    this.#latest = Math.max(this.#latest, piece)
  }
}

/** Waits up to here are one bucket. Each further bucket is 8 % wider than the previous one, up to a day. */
const FIRST_MS = 50
const GROWTH = Math.log(1.08)
const BUCKETS = 1 + Math.ceil(Math.log((24 * 3_600_000) / FIRST_MS) / GROWTH)

const bucketOf = (ms: number): number =>
  ms <= FIRST_MS ? 0 : Math.min(BUCKETS - 1, 1 + Math.floor(Math.log(ms / FIRST_MS) / GROWTH))
/** The middle of a bucket, with an error of at most 4 %. */
const middleOf = (bucket: number): number =>
  bucket === 0 ? FIRST_MS / 2 : FIRST_MS * Math.exp((bucket - 0.5) * GROWTH)

/** Counts waits in so little memory that each ten seconds of an hour have a histogram. */
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

  /** Adds the counts of another histogram, or subtracts them. */
  merge(other: WaitHistogram, sign: 1 | -1): void {
    for (let bucket = 0; bucket < BUCKETS; bucket += 1) {
      this.#counts[bucket] = (this.#counts[bucket] as number) + sign * (other.#counts[bucket] as number)
    }
    this.#total += sign * other.#total
  }

  /** The wait that `share` of all do not exceed, in whole milliseconds; null without waits. */
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

/** Counts the events of a queue. @param steps number of steps in the hour. */
function createQueueActivity(steps: number) {
  const arrivals = new RecentSum()
  const matches = new RecentSum()
  const lastHour = new WaitHistogram()
  /** Waits of each step. Most steps have none and take no memory. */
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
    /** Ends a step, and returns its counts. */
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

/** Counts the matchmaker's events of each queue. */
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
  /** Players of a private match do not wait for others. */
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
    /** Counts a ticket that has arrived in these queues, in any process. */
    arrived: (names: readonly string[]) => {
      for (const name of names) of(name).arrived(now())
    },
    /** Deployments that the service accepted. */
    creates,
    /** Removes queues that do not exist any more. */
    keep: (names: readonly string[]) => {
      for (const name of queues.keys()) if (!names.includes(name)) queues.delete(name)
    },
    close: () => {
      for (const end of endings) end()
    },
  }
}
