import type { Intent, Resumption } from '../records/allocation.js'
import type { Assignment } from '../records/assignment.js'

/** An entry of the journal. The kinds come in this order for each match; all but the first may be missing. */
export type JournalEntry =
  /**
   * A deployment is about to be requested for a match. A further intent of the same match is the next attempt, once the
   * deployment of the one before is gone.
   */
  | ({ readonly kind: 'intent'; readonly resumption?: Resumption | undefined } & Intent)
  /**
   * The create is about to leave; written before its first byte is sent. An intent without this entry was never
   * requested, so there is nothing to look for after a restart. `at`: epoch milliseconds.
   */
  | {
      readonly kind: 'sent'
      readonly matchId: string
      readonly at: number
      readonly resumption?: Resumption | undefined
    }
  /**
   * The answer to the create was lost at `at`, in epoch milliseconds. If the list does not show the deployment long
   * enough after that, the deployment was not created.
   */
  | { readonly kind: 'lost'; readonly matchId: string; readonly at: number }
  /** The deployment was created and has this `requestId`. */
  | { readonly kind: 'created'; readonly matchId: string; readonly requestId: string }
  /**
   * Players were sent to the server. `lastsMs`: milliseconds from the deployment's start after which it is stopped,
   * even if players are on it.
   */
  | {
      readonly kind: 'assigned'
      readonly matchId: string
      readonly lastsMs?: number | undefined
      readonly assignment?: Assignment | undefined
    }
  /** The server is being stopped: no players are to be sent to it any more. */
  | { readonly kind: 'dropped'; readonly matchId: string }
  /** The players on the server have changed. */
  | { readonly kind: 'players'; readonly matchId: string; readonly playerIds: readonly string[] }
  /** The match has no deployment, or no longer has one. The journal may forget the match. */
  | { readonly kind: 'settled'; readonly matchId: string }

/** A match that was not settled when the journal was last written to. */
export interface OpenIntent extends Intent {
  /**
   * Epoch milliseconds at which the create was about to leave. Undefined: it was never sent, so no deployment exists.
   */
  readonly sentAt?: number | undefined
  /** Epoch milliseconds at which the answer to the create was lost, if that was noticed. */
  readonly lostAt?: number | undefined
  readonly requestId?: string | undefined
  /** Whether players were sent to the server and may still be on it. */
  readonly assigned: boolean
  /** Whether the server is being stopped. */
  readonly dropped?: boolean | undefined
  /** Only in journals that `resume`. */
  readonly resumption?: Resumption | undefined
  readonly lastsMs?: number | undefined
  readonly assignment?: Assignment | undefined
}

/**
 * Remembers which deployments may exist. A journal must keep entries in the order in which `append` was called. A
 * create is sent once the `append` of its `sent` has resolved, so a journal on a disk must resolve only when the entry
 * is safe.
 */
export interface Journal {
  /**
   * Whether a later process has the tickets too, and goes on with matches whose server does not run yet: then entries
   * carry what it needs for that, secrets included. If false, such servers are stopped after a restart. Default:
   * whether the matchmaker has a ticket log.
   */
  readonly resumes?: boolean | undefined
  append(entry: JournalEntry): void | Promise<void>
  /**
   * Returns the matches that are not settled, oldest first. Called once before the first match, and again after a
   * failure.
   * @param problem is told what was lost, if the journal can still be used.
   */
  open(problem?: (error: Error) => void): readonly OpenIntent[] | Promise<readonly OpenIntent[]>
  /** Releases the journal's resources; called at the end of the matchmaker's `close`, after the last entry. */
  close?(): void | Promise<void>
}

/**
 * Creates a journal in memory, which ends with the process: for a matchmaker that goes on where another one of the same
 * process has ended. Of deployments that a crash left behind it knows nothing: the reaper finds these by their tag and
 * stops them `reapAfterMs` after their start, even if players are on them. `createFileJournal` avoids that.
 */
export function createMemoryJournal(): Journal {
  const intents = new Map<string, OpenIntent>()
  return {
    append: (entry) => applyEntry(intents, entry),
    open: () => [...intents.values()],
  }
}

/** The journal of a matchmaker that is given none: it keeps nothing, since nothing would ever be read from it. */
export const NO_JOURNAL: Journal = { append: () => {}, open: () => [] }

/**
 * Applies an entry to the open matches. Entries about a match that is not open change nothing, and a server that is
 * being stopped gets no players any more.
 */
export function applyEntry(open: Map<string, OpenIntent>, entry: JournalEntry): void {
  const { kind, matchId } = entry
  if (kind === 'intent') {
    // Fields are copied one by one, for speed: this runs for every match.
    const { queue, tag, ticketIds, playerIds, at, resumption } = entry
    const intent = { matchId, queue, tag, ticketIds, playerIds, at, assigned: false }
    open.set(matchId, resumption === undefined ? intent : { ...intent, resumption })
    return
  }
  const intent = open.get(matchId)
  if (intent === undefined) return
  switch (kind) {
    case 'sent':
      open.set(matchId, { ...intent, sentAt: entry.at, ...(entry.resumption && { resumption: entry.resumption }) })
      break
    case 'lost':
      open.set(matchId, { ...intent, lostAt: entry.at })
      break
    case 'created':
      open.set(matchId, { ...intent, requestId: entry.requestId })
      break
    case 'assigned': {
      if (intent.dropped === true) break
      const { lastsMs, assignment } = entry
      open.set(matchId, { ...intent, assigned: true, lastsMs, assignment })
      break
    }
    case 'dropped': {
      const { lastsMs: _, assignment: __, ...rest } = intent
      open.set(matchId, { ...rest, assigned: false, dropped: true })
      break
    }
    case 'players':
      open.set(matchId, { ...intent, playerIds: entry.playerIds })
      break
    case 'settled':
      open.delete(matchId)
  }
}
