import type { Matchmaker, Ticket } from '@muster/matchmaker'

/** Sums up what happened lately, piece by piece: by default within the last minute, second by second. */
export class RecentSum {
  readonly #pieces: Float64Array
  readonly #pieceMs: number
  /** The piece that was counted last. */
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

  /** Forgets the pieces that are over. */
  #pass(now: number): void {
    const piece = Math.floor(now / this.#pieceMs)
    const { length } = this.#pieces
    for (let passed = Math.max(this.#latest + 1, piece - length + 1); passed <= piece; passed += 1)
      this.#pieces[passed % length] = 0
    this.#latest = Math.max(this.#latest, piece)
  }
}

/** Waits up to here are one bucket; from here on each bucket is 8 % wider than the one before, up to a day. */
const FIRST_MS = 50
const GROWTH = Math.log(1.08)
const BUCKETS = 1 + Math.ceil(Math.log((24 * 3_600_000) / FIRST_MS) / GROWTH)

const bucketOf = (ms: number): number =>
  ms <= FIRST_MS ? 0 : Math.min(BUCKETS - 1, 1 + Math.floor(Math.log(ms / FIRST_MS) / GROWTH))
/** The middle of a bucket: at most 4 % off. */
const middleOf = (bucket: number): number =>
  bucket === 0 ? FIRST_MS / 2 : FIRST_MS * Math.exp((bucket - 0.5) * GROWTH)

/** Counts waits in so little memory that every ten seconds of an hour have one of their own. */
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

  /** Adds what another one has counted, or takes it away again. */
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

/** What happens in a queue: counted as it happens. @param steps number of steps in the hour. */
function createQueueActivity(steps: number) {
  const arrivals = new RecentSum()
  const matches = new RecentSum()
  const lastHour = new WaitHistogram()
  /** Waits of each step; most have none, and cost nothing. */
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
    /** Counts a ticket that was matched. */
    waited: (waitMs: number) => {
      lastHour.add(waitMs)
      step.waits ??= new WaitHistogram()
      step.waits.add(waitMs)
    },
    /** Ends a step, and returns what happened in it. */
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

/** Counts what happens in each queue, by the matchmaker's events. */
export type Activity = ReturnType<typeof createActivity>

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
  /** Players of a private match wait for nobody. */
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
    /** A ticket has arrived in these queues, of whichever process. */
    arrived: (names: readonly string[]) => {
      for (const name of names) of(name).arrived(now())
    },
    /** Deployments that the service accepted. */
    creates,
    /** Forgets queues that are no longer there. */
    keep: (names: readonly string[]) => {
      for (const name of queues.keys()) if (!names.includes(name)) queues.delete(name)
    },
    close: () => {
      for (const end of endings) end()
    },
  }
}
