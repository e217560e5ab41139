import type { Intent } from '../records/allocation.js'
import type { Assignment } from '../records/assignment.js'

/** What a journal is told, in this order for each match; all but the first may be missing. */
export type JournalEntry =
  /** A further one for the same match stands for the next try, once what the one before created is gone. */
  | ({ readonly kind: 'intent' } & Intent)
  /**
   * Its create is about to leave: written before its first byte may be. An intent without it was never asked for, so
   * nothing has to be looked for after a restart. `at`: epoch milliseconds.
   */
  | { readonly kind: 'sent'; readonly matchId: string; readonly at: number }
  /**
   * The answer to its create is lost, since `at`, in epoch milliseconds: what a list does not show long enough after
   * that was not created.
   */
  | { readonly kind: 'lost'; readonly matchId: string; readonly at: number }
  /** The deployment got its id. */
  | { readonly kind: 'created'; readonly matchId: string; readonly requestId: string }
  /** Players were sent to it; `lastsMs`: milliseconds from its start after which it is stopped, whoever plays. */
  | {
      readonly kind: 'assigned'
      readonly matchId: string
      readonly lastsMs?: number | undefined
      readonly assignment?: Assignment | undefined
    }
  /** Nobody is to play on it any more: it is being stopped. */
  | { readonly kind: 'dropped'; readonly matchId: string }
  /** Others play on it than before. */
  | { readonly kind: 'players'; readonly matchId: string; readonly playerIds: readonly string[] }
  /** There is no deployment of this match, or not any more. The journal may forget the match. */
  | { readonly kind: 'settled'; readonly matchId: string }

/** A match that was not settled when the journal was last written to. */
export interface OpenIntent extends Intent {
  /** Epoch milliseconds at which its create was about to leave. Undefined: it was never sent, and nothing exists. */
  readonly sentAt?: number | undefined
  /** Epoch milliseconds since when the answer to its create is lost, if that was noticed already. */
  readonly lostAt?: number | undefined
  readonly requestId?: string | undefined
  /** Whether players were sent to it, and may still be there. */
  readonly assigned: boolean
  readonly lastsMs?: number | undefined
  readonly assignment?: Assignment | undefined
}

/**
 * Remembers which deployments may exist. Entries must be kept in the order in which `append` was called.
 * A create leaves when the `append` of its `sent` has resolved, so a journal on disk resolves when the entry is safe.
 */
export interface Journal {
  append(entry: JournalEntry): void | Promise<void>
  /**
   * What is not settled, oldest first. Asked once, before the first match; again where it failed.
   * @param problem is told what was lost, if the journal can still be used.
   */
  open(problem?: (error: Error) => void): readonly OpenIntent[] | Promise<readonly OpenIntent[]>
  /** Called at the end of `close` of the matchmaker, after the last entry. */
  close?(): void | Promise<void>
}

/**
 * A journal that lasts as long as the process: it finds lost answers again, but does not know of what a crash
 * left behind. That is found by its tag, and stopped `reapAfterMs` after its start, players or not: see
 * `createFileJournal`.
 */
export function createMemoryJournal(): Journal {
  const intents = new Map<string, OpenIntent>()
  return {
    append: (entry) => applyEntry(intents, entry),
    open: () => [...intents.values()],
  }
}

/** What an entry changes in what is open. Entries about a match that is not open change nothing. */
export function applyEntry(open: Map<string, OpenIntent>, entry: JournalEntry): void {
  const { kind, matchId } = entry
  if (kind === 'intent') {
    // Field by field: every match comes by here.
    const { queue, tag, ticketIds, playerIds, at } = entry
    open.set(matchId, { matchId, queue, tag, ticketIds, playerIds, at, assigned: false })
    return
  }
  const intent = open.get(matchId)
  if (intent === undefined) return
  switch (kind) {
    case 'sent':
      open.set(matchId, { ...intent, sentAt: entry.at })
      break
    case 'lost':
      open.set(matchId, { ...intent, lostAt: entry.at })
      break
    case 'created':
      open.set(matchId, { ...intent, requestId: entry.requestId })
      break
    case 'assigned': {
      const { lastsMs, assignment } = entry
      open.set(matchId, { ...intent, assigned: true, lastsMs, assignment })
      break
    }
    case 'dropped': {
      const { lastsMs: _, assignment: __, ...rest } = intent
      open.set(matchId, { ...rest, assigned: false })
      break
    }
    case 'players':
      open.set(matchId, { ...intent, playerIds: entry.playerIds })
      break
    case 'settled':
      open.delete(matchId)
  }
}

/** What says the same as all that was said about a match, in as few entries as possible. */
export function entriesOf({
  sentAt,
  lostAt,
  requestId,
  assigned,
  lastsMs,
  assignment,
  ...intent
}: OpenIntent): JournalEntry[] {
  const { matchId } = intent
  const entries: JournalEntry[] = [{ kind: 'intent', ...intent }]
  if (sentAt !== undefined) entries.push({ kind: 'sent', matchId, at: sentAt })
  if (lostAt !== undefined) entries.push({ kind: 'lost', matchId, at: lostAt })
  if (requestId !== undefined) entries.push({ kind: 'created', matchId, requestId })
  if (assigned) entries.push({ kind: 'assigned', matchId, lastsMs, assignment })
  return entries
}
