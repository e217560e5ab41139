import type { Clock } from '@muster/core/clock'
import { backoffMs } from '@muster/core/internal'
import type { Commit, CommitOutcome, FollowerReply, HostingTransaction, NewHeader } from '../store/index.js'

export type Commits = ReturnType<typeof createCommits>

export interface CommitsOptions {
  readonly commit: (commit: Commit) => Promise<CommitOutcome>
  /** A header was not written: the ticket has another that goes before it, or is gone. */
  readonly refused: (ticketId: string, header: string | undefined) => void
  /** Whether the error means that another process leads. */
  readonly isLeaseLost: (error: unknown) => boolean
  readonly deposed: () => void
  /** Whether the lease is lost for good. */
  readonly isLost: () => boolean
  /** Whether the records of servers wait for replicas. */
  readonly isDurable: boolean
  readonly problem: (error: unknown) => void
  readonly clock: Clock
  readonly random: () => number
}

interface Waiting {
  readonly resolve: (unmet: readonly string[]) => void
  readonly reject: (error: Error) => void
}

/** What is decided and not yet under way. */
class Batch {
  readonly headers = new Map<string, NewHeader>()
  readonly left: { readonly ticketId: string; readonly players: readonly string[] }[] = []
  readonly hosting: HostingTransaction[] = []
  readonly backfills = new Map<string, string | undefined>()
  readonly notes = new Map<string, string | undefined>()
  readonly replies: FollowerReply[] = []
  /** One for each of `hosting`. */
  readonly waiting: Waiting[] = []
  readonly flushed: Waiting[] = []

  /** How much there is to write. */
  get size(): number {
    const { headers, left, hosting, backfills, notes, replies } = this
    return headers.size + left.length + hosting.length + backfills.size + notes.size + replies.length
  }
}

const RETRY = { baseMs: 20, capMs: 200, jitter: 0.5 }
const NONE: readonly string[] = []

/**
 * Writes what the leader decides, in order, one commit at a time: whatever is decided while one is under way goes into
 * the next. A commit whose answer is lost is repeated, until the lease is lost.
 */
export function createCommits(options: CommitsOptions) {
  const { refused, isLeaseLost, deposed, isLost, isDurable, problem, clock, random } = options
  let next = new Batch()
  let isWriting = false
  let stopped: Error | undefined
  const goesOn = () => stopped === undefined

  const fail = (batch: Batch, error: Error) => {
    for (const { reject } of [...batch.waiting, ...batch.flushed]) reject(error)
  }

  /** Writes a batch, however often that takes. Undefined once the lease is lost. */
  const written = async (batch: Batch): Promise<CommitOutcome | undefined> => {
    if (batch.size === 0) return { refused: [], unmet: [] }
    const { replies } = batch
    // What waits for replicas is answered once they have it.
    const isAnsweredLater = isDurable && replies.length > 0 && replies.length < batch.size
    const outcome = await committed({
      headers: [...batch.headers.values()],
      left: batch.left,
      hosting: batch.hosting,
      notes: Array.from(batch.notes, ([key, text]) => ({ key, text })),
      backfills: Array.from(batch.backfills, ([backfillId, text]) => ({ backfillId, text })),
      replies: isAnsweredLater ? [] : replies,
      durable: isDurable && (batch.hosting.length > 0 || isAnsweredLater),
    })
    if (isAnsweredLater && outcome !== undefined && (await committed({ replies })) === undefined) return undefined
    return outcome
  }

  /** Undefined once the lease is lost. */
  const committed = async (commit: Commit): Promise<CommitOutcome | undefined> => {
    for (let tries = 0; goesOn() && !isLost(); tries += 1) {
      try {
        return await options.commit(commit)
      } catch (error) {
        if (isLeaseLost(error)) break
        problem(error)
        await clock.sleep(backoffMs(tries, random(), RETRY))
      }
    }
    return undefined
  }

  const write = async (): Promise<void> => {
    isWriting = true
    while (goesOn() && (next.size > 0 || next.flushed.length > 0)) {
      const batch = next
      next = new Batch()
      const outcome = await written(batch)
      if (outcome === undefined) {
        fail(batch, stopped ?? new Error('Another process leads.'))
        if (stopped === undefined) deposed()
        break
      }
      const unmet = new Map(outcome.unmet.map(({ matchId, ticketIds }) => [`m:${matchId}`, ticketIds]))
      const unmetIn = (transaction: HostingTransaction = []) =>
        transaction.map(({ key }) => unmet.get(key)).find((ids) => ids !== undefined)
      for (const { ticketId, header } of outcome.refused) refused(ticketId, header)
      for (const [index, { resolve }] of batch.waiting.entries()) resolve(unmetIn(batch.hosting[index]) ?? NONE)
      for (const { resolve } of batch.flushed) resolve(NONE)
    }
    isWriting = false
  }

  /** What is decided within one turn of the event loop is written together. */
  const begin = () => {
    if (isWriting || stopped !== undefined) return
    isWriting = true
    setImmediate(() => void write())
  }

  const waited = (into: (batch: Batch) => Waiting[]): Promise<readonly string[]> =>
    new Promise((resolve, reject) => {
      if (stopped !== undefined) return reject(stopped)
      into(next).push({ resolve, reject })
      begin()
    })

  return {
    /** The newest header of a ticket. */
    header: (header: NewHeader) => {
      // Deleted first, so that the newest header is last: a ticket of a party may follow another.
      next.headers.delete(header.ticketId)
      next.headers.set(header.ticketId, header)
      begin()
    },
    left: (ticketId: string, players: readonly string[]) => {
      next.left.push({ ticketId, players })
      begin()
    },
    /**
     * Changes servers and matches together, once the changes before are written. Resolves with the required tickets
     * that are not in their match; with none, it is written. Rejects once the lease is lost: then it may have been
     * written.
     */
    hosting: (transaction: HostingTransaction) => {
      next.hosting.push(transaction)
      return waited((batch) => batch.waiting)
    },
    backfill: (backfillId: string, text: string | undefined) => {
      next.backfills.set(backfillId, text)
      begin()
    },
    note: (key: string, text: string | undefined) => {
      next.notes.set(key, text)
      begin()
    },
    /** Answers a follower, with all that was decided before it. */
    reply: (follower: string, text: string) => {
      next.replies.push({ follower, text })
      begin()
    },
    /** Resolves when everything so far is written. Rejects once the lease is lost. */
    flushed: async () => {
      if (!isWriting && next.size === 0) return
      await waited((batch) => batch.flushed)
    },
    /** Nothing more is written. */
    stop: (reason: Error) => {
      if (stopped !== undefined) return
      stopped = reason
      fail(next, reason)
      next = new Batch()
    },
  }
}
