import { type Clock, dateOf, type Random } from '@muster/core/clock'
import { backoffMs, isWebhookSecret, linkedSignal, manyWaitOn, webhookSignature } from '@muster/core/internal'
import { z } from 'zod'
import type { MatchResult } from '../game-servers/index.js'
import type { PlayerWhoLeft, StopReason } from '../records/index.js'

/** What a backend is told when a match is over. */
export interface MatchOutcome {
  readonly matchId: string
  readonly queue: string
  /** Who played, also those who left before the match was over. */
  readonly playerIds: readonly string[]
  /** Those of them who left before its end, and when. */
  readonly left?: readonly PlayerWhoLeft[] | undefined
  /** What the game server says; undefined if it said nothing. */
  readonly result: MatchResult | undefined
  /** Epoch milliseconds. */
  readonly endedAt: number
  /** Undefined in a result of an earlier version. */
  readonly endReason?: StopReason | undefined
  /** Name of the source of its server; undefined: the deployment service, or not known after a restart. */
  readonly source?: string | undefined
  /** Id of the key with which its server came, if Muster has not started that. */
  readonly enrolmentKey?: string | undefined
}

/** Where results of matches go: plain data, e.g. from JSON. */
export interface ResultsDefinition {
  /** An http or https URL, which takes a POST for each match. */
  readonly url: string
  /**
   * Secret of at least 24 bytes with which each POST is signed, as Standard Webhooks describe: `whsec_` and base64.
   */
  readonly secret: string
}

/** The schema of the destination of results. */
export const resultsSchema = z.strictObject({
  url: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }),
  secret: z.string().refine(isWebhookSecret, 'must be whsec_ and at least 24 bytes in base64'),
})

/** Keeps what was not taken yet, for the next process. Texts are of one line. */
export interface OutboxRecords {
  /** Key and text of all that is kept, in any order. */
  stored(): readonly { readonly key: string; readonly value: string }[]
  put(key: string, value: string): void
  remove(key: string): void
  /**
   * Resolves once everything that was put survives the end of the process; undefined if it does already. Rejects if it
   * cannot be written now.
   */
  written(): Promise<void> | undefined
}

/** A result that the backend keeps refusing. It is kept until an operator repeats or drops it. */
export interface ResultSetAside extends MatchOutcome {
  /** Epoch milliseconds. */
  readonly setAsideAt: number
  /** What the backend answered last, e.g. `the URL of results answered 400`. */
  readonly reason: string
}

/**
 * Sends the results of matches to a backend, each at least once until a 2xx answers, and those of a player in their
 * order. What is not taken yet is kept across restarts. A result that is refused for good is set aside, so that the
 * others go on.
 */
export type ResultOutbox = ReturnType<typeof createResultOutbox>

export interface ResultOutboxOptions extends ResultsDefinition {
  readonly records: OutboxRecords
  readonly clock: Clock
  readonly random: Random
  /** Default: the global one. */
  readonly fetch?: typeof fetch | undefined
  /** Receives what went wrong, and the match unless it is not known. */
  readonly problem: (error: unknown, matchId?: string) => void
}

/** Results that are kept at most (our choice): some 400 MB of the largest, a day of a match every two seconds. */
const MOST_KEPT = 50_000
/** Results set aside that one call lists (our choice). */
const MOST_LISTED = 1000
/** POSTs that are under way at once, and those of them that repeat one: others are never kept waiting by these. */
const MOST_IN_FLIGHT = 16
const MOST_REPEATED = 8
const TIMEOUT_MS = 10_000
const RETRY = { baseMs: 1000, capMs: 300_000, jitter: 1 }
/** Milliseconds until a result that could not be written is tried again. */
const UNWRITTEN_MS = 1000

/**
 * Statuses that concern every result: the URL, the secret or the load of the backend. Any other 4xx refuses this one
 * result, and repeating it would change nothing.
 */
const REFUSES_ALL: ReadonlySet<number> = new Set([401, 403, 404, 405, 407, 408, 410, 421, 425, 429])
/** Statuses of a proxy whose backend is away. */
const IS_AWAY: ReadonlySet<number> = new Set([502, 503, 504])
/**
 * Tries after which a result is set aside, if the backend has taken another one since the first of them. Without such
 * a proof it takes an hour of errors, or a day without an answer of the backend (our choices).
 */
const MOST_TRIES = 10
const FAILING_MS = 3_600_000
const AWAY_MS = 86_400_000

/** The backend answered with another status than a 2xx. */
class Untaken extends Error {
  readonly status: number
  constructor(status: number) {
    super(`the URL of results answered ${status}`)
    this.status = status
  }
}

/** Why there was no answer: `fetch failed` alone says nothing, and its cause does. */
function reasonOf(error: unknown): unknown {
  const { cause } = error instanceof TypeError ? error : {}
  if (!(cause instanceof Error)) return error
  const why = cause.message || ('code' in cause ? String(cause.code) : cause.name)
  return new Error(`no answer of the URL of results: ${why}`, { cause })
}

interface Waiting {
  readonly id: string
  readonly outcome: MatchOutcome
  /** Whether the store has it. It is not sent before. */
  isWritten: boolean
  tries: number
  /** Epoch milliseconds of the first try that failed. */
  failingSince: number
  /** Epoch milliseconds before which it is not sent again. */
  dueAt: number
  isUnderWay: boolean
}

const newWaiting = (id: string, outcome: MatchOutcome, isWritten: boolean): Waiting => ({
  id,
  outcome,
  isWritten,
  tries: 0,
  failingSince: 0,
  dueAt: 0,
  isUnderWay: false,
})

/** The id follows from the match, so that a result has one id whatever is lost between its end and its POST. */
const idOf = (matchId: string) => `msg_${matchId}`

export function createResultOutbox(options: ResultOutboxOptions) {
  const { url, secret, records, clock, random, problem } = options
  const send = options.fetch ?? fetch
  const closing = manyWaitOn()
  /** In the order in which they came. */
  let waiting = new Map<string, Waiting>()
  /** Those that were refused, in the order in which that was found out. */
  const aside = new Map<string, ResultSetAside>()
  let inFlight = 0
  let repeated = 0
  let isLoaded = false
  /** Epoch milliseconds at which the backend took a result last. */
  let takenAt = -Infinity

  const inOrder = (those: Iterable<Waiting>): Map<string, Waiting> => {
    const sorted = [...those].toSorted((one, other) => one.outcome.endedAt - other.outcome.endedAt)
    return new Map(sorted.map((one) => [one.id, one]))
  }
  /** What an earlier process has left; read when it is first needed, since a standby has nothing to send. */
  const load = () => {
    if (isLoaded) return
    isLoaded = true
    const stored: Waiting[] = []
    const refused: ResultSetAside[] = []
    for (const { key: id, value } of records.stored()) {
      try {
        const outcome = JSON.parse(value) as MatchOutcome | ResultSetAside
        if ('setAsideAt' in outcome) refused.push(outcome)
        else stored.push(newWaiting(id, outcome, true))
      } catch {
        // The error repeats nothing of the text, which may hold the players' data.
        problem(new Error(`result ${id} is not in the store as it was written`))
      }
    }
    waiting = inOrder(stored)
    refused.sort((one, other) => one.setAsideAt - other.setAsideAt)
    for (const one of refused) aside.set(one.matchId, one)
  }

  const post = async ({ id, outcome }: Waiting): Promise<void> => {
    const body = JSON.stringify(bodyOf(id, outcome))
    const seconds = String(Math.floor(dateOf(clock) / 1000))
    const ending = new AbortController()
    const linked = linkedSignal(closing.signal, ending.signal)
    clock.sleep(TIMEOUT_MS, linked.signal).then(
      () => ending.abort(new Error(`no answer within ${TIMEOUT_MS / 1000} s`)),
      () => {},
    )
    try {
      const answer = await send(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'webhook-id': id,
          'webhook-timestamp': seconds,
          'webhook-signature': webhookSignature(secret, { id, seconds, body }),
        },
        body,
        redirect: 'error',
        signal: linked.signal,
      })
      await answer.body?.cancel()
      if (!answer.ok) throw new Untaken(answer.status)
    } catch (error) {
      throw reasonOf(error)
    } finally {
      ending.abort()
      linked.unlink()
    }
  }

  const setAside = ({ id, outcome }: Waiting, reason: string) => {
    const refused = { ...outcome, setAsideAt: dateOf(clock), reason }
    waiting.delete(id)
    aside.set(outcome.matchId, refused)
    records.put(id, JSON.stringify(refused))
    const message = `${reason}. The result is set aside, and those after it are sent. Repeat or drop it.`
    problem(new Error(message), outcome.matchId)
  }

  /** Whether the failure is one of this result alone, as far as that can be known. */
  const isRefused = ({ tries, failingSince }: Waiting, error: unknown): boolean => {
    const status = error instanceof Untaken ? error.status : undefined
    if (status !== undefined && status >= 400 && status < 500 && !REFUSES_ALL.has(status)) return true
    if (tries < MOST_TRIES) return false
    const isAnswer = status !== undefined && status >= 500 && !IS_AWAY.has(status)
    return takenAt > failingSince || clock.now() - failingSince >= (isAnswer ? FAILING_MS : AWAY_MS)
  }

  const failed = (one: Waiting, error: unknown) => {
    if (one.tries === 0) one.failingSince = clock.now()
    one.tries += 1
    one.dueAt = clock.now() + backoffMs(one.tries, random(), RETRY)
    if (closing.signal.aborted) return
    if (isRefused(one, error)) setAside(one, error instanceof Error ? error.message : String(error))
    else problem(error, one.outcome.matchId)
  }

  /** Whether the store has the result. */
  const isKept = async (one: Waiting): Promise<boolean> => {
    if (one.isWritten) return true
    try {
      await records.written()
      one.isWritten = true
    } catch {
      // The store says so itself, and goes on trying.
      one.dueAt = clock.now() + UNWRITTEN_MS
    }
    return one.isWritten && !closing.signal.aborted
  }

  const deliver = async (one: Waiting): Promise<void> => {
    const isRepeated = one.tries > 0
    one.isUnderWay = true
    inFlight += 1
    if (isRepeated) repeated += 1
    try {
      if (!(await isKept(one))) return
      await post(one)
      takenAt = clock.now()
      waiting.delete(one.id)
      records.remove(one.id)
    } catch (error) {
      failed(one, error)
    } finally {
      one.isUnderWay = false
      inFlight -= 1
      if (isRepeated) repeated -= 1
      if (!closing.signal.aborted) advance(clock.now())
    }
  }

  const advance = (now: number): void => {
    load()
    if (waiting.size === 0 || inFlight >= MOST_IN_FLIGHT) return
    /** Players of results that come before and are not taken: theirs wait. */
    const blocked = new Set<string>()
    for (const one of waiting.values()) {
      const { playerIds } = one.outcome
      const isFree = !playerIds.some((id) => blocked.has(id))
      const hasRoom = one.tries === 0 || repeated < MOST_REPEATED
      if (isFree && hasRoom && !one.isUnderWay && now >= one.dueAt) void deliver(one)
      if (inFlight === MOST_IN_FLIGHT) break
      for (const id of playerIds) blocked.add(id)
    }
  }

  /** Takes the oldest that was set aside out of the store. Returns false if there is none. */
  const forgetOldest = (): boolean => {
    const [oldest] = aside.keys()
    if (oldest === undefined) return false
    drop(oldest)
    problem(new Error('No more can be kept. The oldest result that was set aside is dropped.'), oldest)
    return true
  }

  const drop = (matchId: string): boolean => {
    load()
    if (!aside.delete(matchId)) return false
    records.remove(idOf(matchId))
    return true
  }

  return {
    /**
     * Takes a result. It is sent once the store has it. A match has one: a second is left out. While no more can be
     * kept, the oldest that was set aside is dropped for it; without one the result is left out, with a problem. The
     * match ends all the same.
     */
    add: (outcome: MatchOutcome) => {
      load()
      const { matchId } = outcome
      const id = idOf(matchId)
      if (waiting.has(id) || aside.has(matchId)) return
      if (waiting.size + aside.size >= MOST_KEPT && !forgetOldest())
        return problem(new Error('No more can be kept. The backend is not told of this match.'), matchId)
      waiting.set(id, newWaiting(id, outcome, false))
      records.put(id, JSON.stringify(outcome))
    },
    /** Sends what is due. */
    advance,
    /** Number of results that are not taken yet, without those set aside. */
    pending: () => waiting.size,
    /** Milliseconds since the oldest of these matches ended; 0 if there is none. */
    oldestMs: (): number => {
      const [oldest] = waiting.values()
      return oldest === undefined ? 0 : Math.max(0, dateOf(clock) - oldest.outcome.endedAt)
    },
    /** Number of results that were set aside. */
    asideCount: () => aside.size,
    /** Results that were set aside, the oldest 1,000 first. */
    setAside: (): readonly ResultSetAside[] => {
      load()
      return [...aside.values()].slice(0, MOST_LISTED)
    },
    /** Sends a result again that was set aside, before later ones of its players. Returns false if there is none. */
    repeat: (matchId: string): boolean => {
      load()
      const refused = aside.get(matchId)
      if (refused === undefined) return false
      const { setAsideAt: _, reason: __, ...outcome } = refused
      const id = idOf(matchId)
      aside.delete(matchId)
      records.put(id, JSON.stringify(outcome))
      waiting = inOrder([...waiting.values(), newWaiting(id, outcome, false)])
      return true
    },
    /** Forgets a result that was set aside. Returns false if there is none. */
    drop,
    close: () => closing.abort(new Error('the matchmaker was closed')),
  }
}

/** The body of the POST. */
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
