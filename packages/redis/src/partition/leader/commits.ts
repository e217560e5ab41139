import type { Clock } from '@muster/core/clock'
import { backoffMs } from '@muster/core/internal'
import type { Commit, CommitOutcome, FollowerReply, HostingTransaction, NewHeader } from '../store/index.js'

export type Commits = ReturnType<typeof createCommits>

export interface CommitsOptions {
  readonly commit: (commit: Commit) => Promise<CommitOutcome>
  /** Called if a header was not written: the ticket has another header that takes precedence, or is gone. */
  readonly refused: (ticketId: string, header: string | undefined) => void
  /** True if the error means that another process leads. */
  readonly isLeaseLost: (error: unknown) => boolean
  readonly deposed: () => void
  /** True if the lease is lost for good. */
  readonly isLost: () => boolean
  /** True if the records of servers wait for replicas. */
  readonly isDurable: boolean
  readonly problem: (error: unknown) => void
  readonly clock: Clock
  readonly random: () => number
}

interface CommitWaiter {
  readonly resolve: (unmet: readonly string[]) => void
  readonly reject: (error: Error) => void
}

/** Decisions that are not being written yet. */
class PendingCommit {
  readonly headers = new Map<string, NewHeader>()
  readonly left: { readonly ticketId: string; readonly players: readonly string[] }[] = []
  readonly hosting: HostingTransaction[] = []
  readonly backfills = new Map<string, string | undefined>()
  readonly notes = new Map<string, string | undefined>()
  readonly replies: FollowerReply[] = []
  /** One waiter for each entry of `hosting`. */
  readonly waiting: CommitWaiter[] = []
  readonly flushed: CommitWaiter[] = []

  /** Number of entries to write. */
  get size(): number {
    const { headers, left, hosting, backfills, notes, replies } = this
    return headers.size + left.length + hosting.length + backfills.size + notes.size + replies.length
  }
}

const RETRY = { baseMs: 20, capMs: 200, jitter: 0.5 }
const NONE: readonly string[] = []

/**
 * Writes the leader's decisions in order, one commit at a time: decisions during a commit go into the next one. A
 * commit whose reply is lost is repeated until the lease is lost.
 */
export function createCommits(options: CommitsOptions) {
  const { refused, isLeaseLost, deposed, isLost, isDurable, problem, clock, random } = options
  let next = new PendingCommit()
  let isWriting = false
  let stopped: Error | undefined
  const isRunning = () => stopped === undefined

  const fail = (pending: PendingCommit, error: Error) => {
    for (const { reject } of [...pending.waiting, ...pending.flushed]) reject(error)
  }

  /** Writes a commit, with as many attempts as needed. Undefined once the lease is lost. */
  const written = async (pending: PendingCommit): Promise<CommitOutcome | undefined> => {
    if (pending.size === 0) return { refused: [], unmet: [] }
    const { replies } = pending
    // Replies that wait for replicas are sent once the replicas have the write.
    const isAnsweredLater = isDurable && replies.length > 0 && replies.length < pending.size
    const outcome = await committed({
      headers: [...pending.headers.values()],
      left: pending.left,
      hosting: pending.hosting,
      notes: Array.from(pending.notes, ([key, text]) => ({ key, text })),
      backfills: Array.from(pending.backfills, ([backfillId, text]) => ({ backfillId, text })),
      replies: isAnsweredLater ? [] : replies,
      durable: isDurable && (pending.hosting.length > 0 || isAnsweredLater),
    })
    if (isAnsweredLater && outcome !== undefined && (await committed({ replies })) === undefined) return undefined
    return outcome
  }

  /** Writes a commit, and repeats it after a failure. Undefined once the lease is lost. */
  const committed = async (commit: Commit): Promise<CommitOutcome | undefined> => {
    for (let tries = 0; isRunning() && !isLost(); tries += 1) {
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
    while (isRunning() && (next.size > 0 || next.flushed.length > 0)) {
      const pending = next
      next = new PendingCommit()
      const outcome = await written(pending)
      if (outcome === undefined) {
        const lost = stopped ?? new Error('Another process leads the partition now.')
        fail(pending, lost)
        // Nothing would write the later ones, and a leader that leaves the partition waits for them.
        fail(next, lost)
        next = new PendingCommit()
        if (stopped === undefined) deposed()
        break
      }
      const unmet = new Map(outcome.unmet.map(({ matchId, ticketIds }) => [`m:${matchId}`, ticketIds]))
      const unmetIn = (transaction: HostingTransaction = []) =>
        transaction.map(({ key }) => unmet.get(key)).find((ids) => ids !== undefined)
      for (const { ticketId, header } of outcome.refused) refused(ticketId, header)
      for (const [index, { resolve }] of pending.waiting.entries()) resolve(unmetIn(pending.hosting[index]) ?? NONE)
      for (const { resolve } of pending.flushed) resolve(NONE)
    }
    isWriting = false
  }

  /** Decisions of one turn of the event loop are written together. */
  const begin = () => {
    if (isWriting || stopped !== undefined) return
    isWriting = true
    setImmediate(() => void write())
  }

  const waited = (into: (pending: PendingCommit) => CommitWaiter[]): Promise<readonly string[]> =>
    new Promise((resolve, reject) => {
      if (stopped !== undefined) return reject(stopped)
      into(next).push({ resolve, reject })
      begin()
    })

  return {
    /** Adds the newest header of a ticket. */
    header: (header: NewHeader) => {
      // Deleted first, so that headers are written in the order of their last decisions.
      next.headers.delete(header.ticketId)
      next.headers.set(header.ticketId, header)
      begin()
    },
    left: (ticketId: string, players: readonly string[]) => {
      next.left.push({ ticketId, players })
      begin()
    },
    /**
     * Changes servers and matches together, after the previous changes. Resolves with the required tickets that are not
     * in their match; if there are none, the change was written. Rejects once the lease is lost: then it may have been
     * written.
     */
    hosting: (transaction: HostingTransaction) => {
      next.hosting.push(transaction)
      return waited((pending) => pending.waiting)
    },
    backfill: (backfillId: string, text: string | undefined) => {
      next.backfills.set(backfillId, text)
      begin()
    },
    note: (key: string, text: string | undefined) => {
      next.notes.set(key, text)
      begin()
    },
    /** Replies to a follower, together with everything decided before. */
    reply: (follower: string, text: string) => {
      next.replies.push({ follower, text })
      begin()
    },
    /** Resolves when everything so far is written. Rejects once the lease is lost. */
    flushed: async () => {
      if (!isWriting && next.size === 0) return
      await waited((pending) => pending.flushed)
    },
    /** Stops writing. */
    stop: (reason: Error) => {
      if (stopped !== undefined) return
      stopped = reason
      fail(next, reason)
      next = new PendingCommit()
    },
  }
}
