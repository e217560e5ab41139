import type { Clock } from '@muster/core/clock'
import type { Matchmaker, ServerFailure } from '@muster/matchmaker'
import type { Fields, Log } from './log.js'

/** Writes what went wrong: each kind at once, and then how often it came again. */
export interface ProblemLog {
  /** @param during what was being done, e.g. `create`. Texts that differ in ids and numbers are of one kind. */
  report(during: string, error: unknown, fields?: Fields): void
  /** Writes what is still counted, and ends. */
  close(): Promise<void>
}

/** Milliseconds in which the same problem is one line and a count (our choice). */
const WINDOW_MS = 10_000
/** Kinds of problems in such a window; of further ones only the number is written (our choice). */
const MOST_KINDS = 50

interface Kind {
  readonly during: string
  readonly text: string
  count: number
}

/** Bounded by itself, however many problems there are: a line for each kind, and a count of it, per window. */
export function createProblemLog(log: Log, clock: Clock): ProblemLog {
  const kinds = new Map<string, Kind>()
  const ending = new AbortController()
  let others = 0
  let counting: Promise<void> | undefined

  const flush = () => {
    for (const { during, text, count } of kinds.values())
      if (count > 1) log.warn(`${text.replace(/\.$/, '')} (${count - 1} more times)`, { during })
    if (others > 0) log.warn(`${others} other problems occurred; they are not listed.`)
    kinds.clear()
    others = 0
    counting = undefined
  }

  return {
    report: (during, error, fields) => {
      const text = textOf(error)
      const key = `${during} ${kindOf(text)}`
      counting ??= clock
        .sleep(WINDOW_MS, ending.signal)
        .catch(() => {})
        .then(flush)
      const known = kinds.get(key)
      if (known !== undefined) known.count += 1
      else if (kinds.size >= MOST_KINDS) others += 1
      else {
        kinds.set(key, { during, text, count: 1 })
        log.warn(text, { during, ...fields })
      }
    },
    close: async () => {
      ending.abort()
      await counting
    },
  }
}

/** Characters by which problems of one kind are told: more would let a long text take time and memory. */
const KIND_LENGTH = 500

/** The text without ids and numbers, by which problems of one kind differ. In linear time. */
const kindOf = (text: string) =>
  text.slice(0, KIND_LENGTH).replaceAll(/[\w-]+/g, (word) => (/\d/.test(word) ? '#' : word))

/** A name and a message. Errors with a message of their own class say what to do; a stack tells an operator nothing. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.name === 'Error' ? error.message : `${error.name}: ${error.message}`
}

const failed: Readonly<Record<ServerFailure, string>> = {
  failed: 'A game server failed before it was READY',
  'too-slow': 'A game server was not READY within the readyTimeoutMs of its queue',
  'not-listening': 'A game server was READY but did not listen, by the probe of its queue',
  crashed: 'A game server crashed while players were on it',
}

/** @param detail what the service says of it */
export const failureText = (reason: ServerFailure, detail: string | undefined): string =>
  detail === undefined ? `${failed[reason]}.` : `${failed[reason]}: ${detail}.`

/**
 * Writes what the matchmaker tells: problems, as `problems` bounds them, and single matches at the level `debug`.
 * Nothing of a player but how many.
 */
export function logEvents(on: Matchmaker['on'], log: Log, problems: ProblemLog): void {
  on('problem', ({ during, matchId, requestId, error }) => problems.report(during, error, { matchId, requestId }))
  on('deploymentFailed', ({ reason, detail, matchId, requestId }) =>
    problems.report('server', failureText(reason, detail), { matchId, requestId }),
  )
  on('orphanStopped', ({ requestId }) =>
    problems.report('reap', 'A server that belonged to no match was stopped.', { requestId }),
  )
  const detail = <Event>(text: string, fieldsOf: (event: Event) => Parameters<Log['debug']>[1]) => {
    return (event: Event) => {
      if (log.writes('debug')) log.debug(text, fieldsOf(event))
    }
  }
  on(
    'matchFound',
    detail('match found', ({ matchId, queue, tickets }) => ({ matchId, queue, tickets: tickets.length })),
  )
  on(
    'deploymentCreated',
    detail('server requested', ({ matchId, requestId }) => ({ matchId, requestId })),
  )
  on(
    'serverAssigned',
    detail('players were sent', ({ matchId, queue, requestId }) => ({ matchId, queue, requestId })),
  )
  on(
    'deploymentStopped',
    detail('server stopped', ({ matchId, requestId, reason }) => ({ matchId, requestId, reason })),
  )
}
