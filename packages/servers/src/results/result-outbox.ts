import { createHmac } from 'node:crypto'
import { type Clock, dateOf, type Random } from '@muster/core/clock'
import { backoffMs, linkedSignal, manyWaitOn, newId } from '@muster/core/internal'
import { z } from 'zod'
import type { MatchResult } from '../game-servers/index.js'

/** What a backend is told when a match is over. */
export interface MatchOutcome {
  readonly matchId: string
  readonly queue: string
  /** Who was in the match when it was over. */
  readonly playerIds: readonly string[]
  /** What the game server says; undefined if it said nothing. */
  readonly result: MatchResult | undefined
  /** Epoch milliseconds. */
  readonly endedAt: number
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

const SECRET_PREFIX = 'whsec_'
const secretBytes = (secret: string) => Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')

/** Whether a text is the secret of Standard Webhooks: `whsec_` and at least 24 bytes in base64. */
export const isWebhookSecret = (secret: string): boolean =>
  secret.startsWith(SECRET_PREFIX) && secretBytes(secret).length >= 24

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
}

/**
 * Sends the results of matches to a backend, each at least once until a 2xx answers, and those of a player in their
 * order. What is not taken yet is kept across restarts.
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
/** POSTs that are under way at once. */
const MOST_IN_FLIGHT = 16
const TIMEOUT_MS = 10_000
const RETRY = { baseMs: 1000, capMs: 300_000, jitter: 1 }

interface Waiting {
  readonly id: string
  readonly outcome: MatchOutcome
  tries: number
  /** Epoch milliseconds before which it is not sent again. */
  dueAt: number
  isUnderWay: boolean
}

export function createResultOutbox(options: ResultOutboxOptions) {
  const { url, secret, records, clock, random, problem } = options
  const send = options.fetch ?? fetch
  const key = secretBytes(secret)
  const closing = manyWaitOn()
  /** In the order in which they came. */
  const waiting = new Map<string, Waiting>()
  let inFlight = 0
  let isLoaded = false
  /** What an earlier process has left; read when it is first needed, since a standby has nothing to send. */
  const load = () => {
    if (isLoaded) return
    isLoaded = true
    const stored = records.stored().flatMap(({ key: id, value }) => {
      try {
        return { id, outcome: JSON.parse(value) as MatchOutcome, tries: 0, dueAt: 0, isUnderWay: false }
      } catch {
        // The error repeats nothing of the text, which may hold the players' data.
        problem(new Error(`result ${id} is not in the store as it was written`))
        return []
      }
    })
    stored.sort((one, other) => one.outcome.endedAt - other.outcome.endedAt)
    for (const one of stored) waiting.set(one.id, one)
  }

  const post = async ({ id, outcome }: Waiting): Promise<void> => {
    const body = JSON.stringify(bodyOf(id, outcome))
    const seconds = String(Math.floor(dateOf(clock) / 1000))
    const signature = createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')
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
          'webhook-signature': `v1,${signature}`,
        },
        body,
        redirect: 'error',
        signal: linked.signal,
      })
      await answer.body?.cancel()
      if (!answer.ok) throw new Error(`the URL of results answered ${answer.status}`)
    } finally {
      ending.abort()
      linked.unlink()
    }
  }

  const deliver = async (one: Waiting): Promise<void> => {
    one.isUnderWay = true
    inFlight += 1
    try {
      await post(one)
      waiting.delete(one.id)
      records.remove(one.id)
    } catch (error) {
      one.tries += 1
      one.dueAt = clock.now() + backoffMs(one.tries, random(), RETRY)
      if (!closing.signal.aborted) problem(error, one.outcome.matchId)
    } finally {
      one.isUnderWay = false
      inFlight -= 1
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
      if (isFree && !one.isUnderWay && now >= one.dueAt) void deliver(one)
      if (inFlight === MOST_IN_FLIGHT) break
      for (const id of playerIds) blocked.add(id)
    }
  }

  const isFull = () => {
    load()
    return waiting.size >= MOST_KEPT
  }

  return {
    /** Whether no more can be kept: then no match may end by its server's word. */
    isFull,
    /**
     * Takes a result. It is kept once the store is flushed. While it is full, a match of which the server says nothing
     * is left out, with a problem: it ends all the same.
     */
    add: (outcome: MatchOutcome) => {
      if (isFull() && outcome.result === undefined)
        return problem(new Error('No more can be kept. The backend is not told of this match.'), outcome.matchId)
      const id = `msg_${newId(random)}`
      waiting.set(id, { id, outcome, tries: 0, dueAt: 0, isUnderWay: false })
      records.put(id, JSON.stringify(outcome))
    },
    /** Sends what is due. */
    advance,
    /** Number of results that are not taken yet. */
    pending: () => waiting.size,
    /** Milliseconds since the oldest of these matches ended; 0 if there is none. */
    oldestMs: (): number => {
      const [oldest] = waiting.values()
      return oldest === undefined ? 0 : Math.max(0, dateOf(clock) - oldest.outcome.endedAt)
    },
    close: () => closing.abort(new Error('the matchmaker was closed')),
  }
}

/** The body of the POST. */
const bodyOf = (id: string, { matchId, queue, playerIds, result, endedAt }: MatchOutcome) => ({
  type: 'match.over',
  id,
  timestamp: new Date(endedAt).toISOString(),
  data: {
    match_id: matchId,
    profile: queue,
    player_ids: playerIds,
    ranking: result?.ranking ?? null,
    data: result?.data ?? null,
  },
})
