import { type Clock, dateOf, type Random } from '@muster/core/clock'
import {
  backoffMs,
  createHeap,
  fetchedUrl,
  isWebhookSecret,
  linkedSignal,
  manyWaitOn,
  messageOf,
  webhookSignature,
} from '@muster/core/internal'
import { z } from 'zod'
import type { MatchResult, PlayerWhoLeft, StopReason } from '../records/index.js'
import { reasonOf, RETRY, Untaken } from './post-failure.js'

/** The result of a match, as it is sent to the backend. */
export interface MatchOutcome {
  readonly matchId: string
  readonly queue: string
  /** Ids of all players, including those who left before the end. */
  readonly playerIds: readonly string[]
  /** Players who left before the end of the match, and when. */
  readonly left?: readonly PlayerWhoLeft[] | undefined
  /** The result that the game server reported. Undefined if it reported none. */
  readonly result: MatchResult | undefined
  /** When the match ended, in epoch milliseconds. */
  readonly endedAt: number
  /** Why the match ended. Undefined in results that an earlier version stored. */
  readonly endReason?: StopReason | undefined
  /** Name of the source of the match's server. Undefined: the deployment service, or unknown after a restart. */
  readonly source?: string | undefined
  /** Id of the key with which the match's server enrolled. Only for a server that Muster has not started. */
  readonly enrolmentKey?: string | undefined
}

/** Where results are sent: plain data, e.g. from JSON. */
export interface ResultsDefinition {
  /** An http or https URL that accepts a POST with each result. */
  readonly url: string
  /** Secret of at least 24 bytes for the signature of each POST (Standard Webhooks): `whsec_` and base64. */
  readonly secret: string
}

/** The schema of the destination of results. */
export const resultsSchema = z.strictObject({
  url: fetchedUrl,
  secret: z.string().refine(isWebhookSecret, 'must be whsec_ followed by at least 24 bytes in base64'),
})

/** Epoch milliseconds of a date. */
const instant = z.number().min(-8.64e15).max(8.64e15)
/** What a stored result must have. Without it, sending would fail, and stop the results after it. */
const storedSchema = z.object({
  matchId: z.string(),
  playerIds: z.array(z.string()),
  left: z.array(z.object({ playerId: z.string(), at: instant })).optional(),
  endedAt: instant,
  setAsideAt: instant.optional(),
})

interface StoredResult {
  readonly key: string
  readonly value: string
}

/** Stores results that were not delivered yet. Each value is a string of one line. */
export interface OutboxRecords {
  /** Returns all stored keys and values, in any order. */
  stored(): readonly StoredResult[]
  put(key: string, value: string): void
  remove(key: string): void
  /**
   * Resolves once all `put` values survive a crash. Undefined if they already do. Rejects if they cannot be stored
   * now.
   */
  written(): Promise<void> | undefined
}

/** A result that the backend has rejected. It stays stored until an operator repeats or drops it. */
export interface ResultSetAside extends MatchOutcome {
  /** When the result was set aside, in epoch milliseconds. */
  readonly setAsideAt: number
  /** Why the result was rejected, e.g. `the URL of results answered 400`. */
  readonly reason: string
}

export interface ResultOutboxOptions extends ResultsDefinition {
  readonly records: OutboxRecords
  readonly clock: Clock
  readonly random: Random
  /** The function that sends requests. Default: the global `fetch`. */
  readonly fetch?: typeof fetch | undefined
  /** Called with each error, and with the id of the match if it is known. */
  readonly problem: (error: unknown, matchId?: string) => void
}

/**
 * Maximum number of stored results (our choice): 400 MB of the largest ones, or a match every two seconds for a day.
 */
const MOST_KEPT = 50_000
/**
 * Maximum number of set-aside results that `setAside` returns, and of their characters as JSON (our choices). With
 * several processes, Redis keeps the list for minutes.
 */
const MOST_LISTED = 1000
const MOST_LISTED_TEXT = 4 * 2 ** 20
/** Maximum number of concurrent POSTs, and of repeated ones among them, so that new results are not held up. */
const MOST_IN_FLIGHT = 16
const MOST_REPEATED = 8
const TIMEOUT_MS = 10_000
/** Milliseconds until a result that could not be stored is tried again. */
const UNWRITTEN_MS = 1000

/**
 * Statuses that say nothing about a single result: the URL, the secret or the load of the backend is the cause. Any
 * other 4xx rejects this result for good.
 */
const REFUSES_ALL: ReadonlySet<number> = new Set([401, 403, 404, 405, 407, 408, 410, 421, 425, 429])
/** Statuses with which a proxy reports that its backend is unavailable. */
const IS_AWAY: ReadonlySet<number> = new Set([502, 503, 504])
/**
 * A result that has failed this often is set aside if the backend has accepted another one meanwhile, unless the
 * backend says that it is busy. Otherwise it is set aside after an hour of error responses, or after a day without a
 * response (our choices). A 503 without Retry-After counts as an error response if the backend has accepted another
 * result meanwhile.
 */
const MOST_TRIES = 10
const FAILING_MS = 3_600_000
const AWAY_MS = 86_400_000

type PendingResult = ReturnType<typeof newWaiting>

const newWaiting = (id: string, outcome: MatchOutcome, isWritten: boolean) => ({
  id,
  outcome,
  /** True if the store has the result. Otherwise it may not be sent yet. */
  isWritten,
  tries: 0,
  /** Epoch milliseconds of the first failed POST. */
  failingSince: 0,
  /** Epoch milliseconds before which no further POST is sent. */
  dueAt: 0,
  isUnderWay: false,
})

interface Loading {
  readonly rest: Iterator<StoredResult, undefined>
  readonly waiting: PendingResult[]
  readonly aside: ResultSetAside[]
  /** The waiting results, once all are read. */
  inOrder?: Iterator<PendingResult, undefined>
}

const byEnd = (a: PendingResult, b: PendingResult) => a.outcome.endedAt - b.outcome.endedAt

const isDue = (one: PendingResult | undefined, now: number) => one !== undefined && now >= one.dueAt
/** Orders results by when they are due, and then by when their matches ended. */
const isDueBefore = (a: PendingResult, b: PendingResult) =>
  a.dueAt === b.dueAt ? a.outcome.endedAt < b.outcome.endedAt : a.dueAt < b.dueAt

/** Returns the id of a match's result. It depends only on the match, so a result that is sent twice has the same id. */
const idOf = (matchId: string) => `msg_${matchId}`

/**
 * Sends the results of matches to a backend. Each result is sent until the backend answers 2xx, so it may arrive
 * twice. Results of the same player are sent in order. Undelivered results survive restarts. A result that the backend
 * rejects is set aside, so that the others continue.
 */
export class ResultOutbox {
  readonly #options: ResultOutboxOptions
  readonly #send: typeof fetch
  readonly #closing = manyWaitOn()
  /** The results that are not delivered, in order of the matches' ends. Those set aside are not included. */
  readonly #waiting = new Map<string, PendingResult>()
  /** The undelivered results of each player, in the same order. The first one must be sent before the others. */
  readonly #turns = new Map<string, PendingResult[]>()
  /**
   * The results that are first for all their players and are not being sent: those that failed before, and the others.
   * Heaps, so that `advance` is cheap while thousands of results wait for a backend that is away.
   */
  #toRepeat = createHeap(isDueBefore)
  #untried = createHeap(isDueBefore)
  /** The results set aside, by match id, oldest first. */
  readonly #aside = new Map<string, ResultSetAside>()
  #inFlight = 0
  #repeated = 0
  #isLoaded = false
  /** The results that are being loaded. */
  #loading: Loading | undefined
  #isEnding = false
  /** Epoch milliseconds at which the backend last accepted a result. */
  #takenAt = -Infinity

  constructor(options: ResultOutboxOptions) {
    this.#options = options
    this.#send = options.fetch ?? fetch
  }

  /**
   * Loads stored results. The other methods load all of them on first use, and not earlier, because another process may
   * still send them.
   * @param most maximum number of steps; each result takes two. Thousands of results take half a second
   * @returns true once all are loaded
   */
  load(most = Infinity): boolean {
    for (let nth = 0; nth < most && !this.#isLoaded; nth += 1) this.#loadNext()
    return this.#isLoaded
  }

  /**
   * Adds the result of a match, which is sent once it is stored. A second result of the same match is ignored. If the
   * outbox is full, the oldest result set aside is dropped. If there is none, the new result is dropped, and `problem`
   * is called.
   */
  add(outcome: MatchOutcome) {
    this.load()
    const { matchId } = outcome
    const id = idOf(matchId)
    if (this.#waiting.has(id) || this.#aside.has(matchId)) return
    if (this.#waiting.size + this.#aside.size >= MOST_KEPT && !this.#forgetOldest())
      return this.#options.problem(
        new Error('The outbox of results is full. The backend does not receive this result.'),
        matchId,
      )
    this.#append(newWaiting(id, outcome, false))
    this.#options.records.put(id, JSON.stringify(outcome))
  }

  advance(now: number): void {
    this.load()
    while (this.#inFlight < MOST_IN_FLIGHT) {
      const isRepeating = !this.#isEnding && this.#repeated < MOST_REPEATED && isDue(this.#toRepeat.first(), now)
      if (!isRepeating && !isDue(this.#untried.first(), now)) return
      const one = (isRepeating ? this.#toRepeat : this.#untried).shift()
      if (one !== undefined) void this.#deliver(one)
    }
  }

  /** Sends results that were never tried, and repeats none any more. Returns true while one is under way. */
  finish(now: number): boolean {
    this.#isEnding = true
    this.advance(now)
    return this.#inFlight > 0
  }

  /** Returns the number of undelivered results. Those set aside are not included. */
  pending() {
    return this.#waiting.size
  }

  /** Returns the milliseconds since the end of the oldest match whose result is not delivered. 0 if there is none. */
  oldestMs(): number {
    const [oldest] = this.#waiting.values()
    return oldest === undefined ? 0 : Math.max(0, dateOf(this.#options.clock) - oldest.outcome.endedAt)
  }

  asideCount() {
    return this.#aside.size
  }

  /** Returns the results set aside, oldest first, at most 1,000 and about 4 MiB. */
  setAside(): readonly ResultSetAside[] {
    this.load()
    const listed: ResultSetAside[] = []
    let room = MOST_LISTED_TEXT
    for (const one of this.#aside.values()) {
      if (listed.length === MOST_LISTED || room <= 0) break
      listed.push(one)
      room -= JSON.stringify(one).length
    }
    return listed
  }

  /** Repeats a result that was set aside, before later results of its players. Returns false if there is none. */
  repeat(matchId: string): boolean {
    this.load()
    const refused = this.#aside.get(matchId)
    if (refused === undefined) return false
    const { setAsideAt: _, reason: __, ...outcome } = refused
    const id = idOf(matchId)
    this.#aside.delete(matchId)
    this.#options.records.put(id, JSON.stringify(outcome))
    this.#setWaiting([...this.#waiting.values(), newWaiting(id, outcome, false)])
    return true
  }

  /** Drops a result that was set aside. Returns false if there is none. */
  drop(matchId: string): boolean {
    this.load()
    if (!this.#aside.delete(matchId)) return false
    this.#options.records.remove(idOf(matchId))
    return true
  }

  close() {
    return this.#closing.abort(new Error('the matchmaker was closed'))
  }

  /** Replaces all waiting results, in order of the matches' ends. */
  #setWaiting(those: readonly PendingResult[]) {
    this.#waiting.clear()
    this.#turns.clear()
    this.#toRepeat = createHeap(isDueBefore)
    this.#untried = createHeap(isDueBefore)
    for (const one of those.toSorted(byEnd)) this.#append(one)
  }

  #append(one: PendingResult) {
    this.#waiting.set(one.id, one)
    for (const id of new Set(one.outcome.playerIds)) {
      const turns = this.#turns.get(id)
      if (turns === undefined) this.#turns.set(id, [one])
      else turns.push(one)
    }
    this.#offer(one)
  }

  /** Removes a waiting result. The next results of its players may be sent then. */
  #remove(one: PendingResult) {
    this.#waiting.delete(one.id)
    for (const id of new Set(one.outcome.playerIds)) {
      const turns = this.#turns.get(id) ?? []
      const nth = turns.indexOf(one)
      if (nth >= 0) turns.splice(nth, 1)
      const [next] = turns
      if (next === undefined) this.#turns.delete(id)
      // After a repeat, an earlier result may be first, and it was offered already.
      else if (nth === 0) this.#offer(next)
    }
  }

  /** Lets `advance` send a waiting result, unless one of its players has an earlier one. */
  #offer(one: PendingResult) {
    if (one.isUnderWay || !one.outcome.playerIds.every((id) => this.#turns.get(id)?.[0] === one)) return
    const heap = one.tries > 0 ? this.#toRepeat : this.#untried
    heap.add(one)
  }

  #loadNext() {
    const { records } = this.#options
    const loading = (this.#loading ??= { rest: records.stored()[Symbol.iterator](), waiting: [], aside: [] })
    const { value: stored } = loading.rest.next()
    if (stored !== undefined) return this.#loadOne(stored, loading)
    loading.inOrder ??= loading.waiting.toSorted(byEnd)[Symbol.iterator]()
    const { value: one } = loading.inOrder.next()
    if (one !== undefined) return this.#append(one)
    this.#isLoaded = true
    this.#loading = undefined
    for (const each of loading.aside.toSorted((a, b) => a.setAsideAt - b.setAsideAt))
      this.#aside.set(each.matchId, each)
  }

  #loadOne({ key: id, value }: StoredResult, { waiting, aside }: Loading) {
    try {
      const outcome = JSON.parse(value) as MatchOutcome | ResultSetAside
      storedSchema.parse(outcome)
      if ('setAsideAt' in outcome) aside.push(outcome)
      else waiting.push(newWaiting(id, outcome, true))
    } catch {
      // The message does not contain the stored string, because it may hold players' data.
      this.#options.problem(new Error(`result ${id} in the store is damaged`))
    }
  }

  async #post({ id, outcome }: PendingResult): Promise<void> {
    const body = JSON.stringify(bodyOf(id, outcome))
    const seconds = String(Math.floor(dateOf(this.#options.clock) / 1000))
    const ending = new AbortController()
    const linked = linkedSignal(this.#closing.signal, ending.signal)
    this.#options.clock.sleep(TIMEOUT_MS, linked.signal).then(
      () => ending.abort(new Error(`the URL of results did not answer within ${TIMEOUT_MS / 1000} s`)),
      () => {},
    )
    try {
      const answer = await this.#send(this.#options.url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'webhook-id': id,
          'webhook-timestamp': seconds,
          'webhook-signature': webhookSignature(this.#options.secret, { id, seconds, body }),
        },
        body,
        redirect: 'error',
        signal: linked.signal,
      })
      await answer.body?.cancel()
      if (!answer.ok) throw new Untaken(answer, dateOf(this.#options.clock))
    } catch (error) {
      throw reasonOf(error)
    } finally {
      ending.abort()
      linked.unlink()
    }
  }

  #setAside(one: PendingResult, reason: string) {
    const { id, outcome } = one
    const refused = { ...outcome, setAsideAt: dateOf(this.#options.clock), reason }
    this.#remove(one)
    this.#aside.set(outcome.matchId, refused)
    this.#options.records.put(id, JSON.stringify(refused))
    const message = `${reason}. The result is set aside, and those after it are sent. Repeat or drop it.`
    this.#options.problem(new Error(message), outcome.matchId)
  }

  /** True if the backend rejects this result for good, as far as can be known. */
  #isRefused({ tries, failingSince }: PendingResult, error: unknown): boolean {
    const status = error instanceof Untaken ? error.status : undefined
    if (status !== undefined && status >= 400 && status < 500 && !REFUSES_ALL.has(status)) return true
    if (tries < MOST_TRIES) return false
    const isAnswer = status !== undefined && status >= 500 && !IS_AWAY.has(status)
    // A busy backend accepts others meanwhile, and says nothing about this result.
    const isBusy = error instanceof Untaken && error.busyMs !== undefined
    const acceptsOthers = !isBusy && this.#takenAt > failingSince
    // A 503 without Retry-After comes from a busy backend, or from a proxy whose backend this result has crashed.
    if (acceptsOthers && status !== 503) return true
    return this.#options.clock.now() - failingSince >= (isAnswer || acceptsOthers ? FAILING_MS : AWAY_MS)
  }

  #failed(one: PendingResult, error: unknown) {
    if (one.tries === 0) one.failingSince = this.#options.clock.now()
    one.tries += 1
    const busyMs = error instanceof Untaken ? (error.busyMs ?? 0) : 0
    one.dueAt = this.#options.clock.now() + busyMs + backoffMs(one.tries, this.#options.random(), RETRY)
    if (this.#closing.signal.aborted) return
    if (this.#isRefused(one, error)) this.#setAside(one, messageOf(error))
    else this.#options.problem(error, one.outcome.matchId)
  }

  /** True if the result may be sent, because the store has it. */
  async #isKept(one: PendingResult): Promise<boolean> {
    if (one.isWritten) return true
    try {
      await this.#options.records.written()
      one.isWritten = true
    } catch {
      // The store reports its own error, and retries.
      one.dueAt = this.#options.clock.now() + UNWRITTEN_MS
    }
    return one.isWritten && !this.#closing.signal.aborted
  }

  async #deliver(one: PendingResult): Promise<void> {
    const isRepeated = one.tries > 0
    one.isUnderWay = true
    this.#inFlight += 1
    if (isRepeated) this.#repeated += 1
    try {
      if (!(await this.#isKept(one))) return
      await this.#post(one)
      this.#takenAt = this.#options.clock.now()
      this.#remove(one)
      this.#options.records.remove(one.id)
    } catch (error) {
      this.#failed(one, error)
    } finally {
      one.isUnderWay = false
      if (this.#waiting.get(one.id) === one) this.#offer(one)
      this.#inFlight -= 1
      if (isRepeated) this.#repeated -= 1
      if (!this.#closing.signal.aborted) this.advance(this.#options.clock.now())
    }
  }

  /** Drops the oldest result set aside. Returns false if there is none. */
  #forgetOldest(): boolean {
    const [oldest] = this.#aside.keys()
    if (oldest === undefined) return false
    this.drop(oldest)
    this.#options.problem(
      new Error('The outbox of results is full. The oldest result that was set aside is dropped.'),
      oldest,
    )
    return true
  }
}

const bodyOf = (
  id: string,
  { matchId, queue, playerIds, left = [], result, endedAt, endReason = 'over', source, enrolmentKey }: MatchOutcome,
) => ({
  type: 'match.over',
  id,
  timestamp: new Date(endedAt).toISOString(),
  data: {
    match_id: matchId,
    profile: queue,
    reason: endReason,
    player_ids: playerIds,
    left: left.map(({ playerId, at }) => ({ player_id: playerId, at: new Date(at).toISOString() })),
    ranking: result?.ranking ?? null,
    data: result?.data ?? null,
    source: source ?? null,
    enrolment_key: enrolmentKey ?? null,
  },
})
