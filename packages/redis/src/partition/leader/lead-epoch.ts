import type { Clock } from '@muster/core/clock'
import type { Lease } from '../lease.js'
import { repeatUntil } from '../../connection/index.js'
import { LeaseLost } from '../partition-errors.js'
import { readPrefix, type PartitionStore } from '../store/index.js'
import { createRpcServer } from './rpc-server.js'
import { createCommits } from './commits.js'
import type { Replica } from './replica.js'

/*
 * A lease epoch of a leader:
 *
 * take over (load tickets, adopt matches) ──▶ lead ──▶ lease lost, or to be released ──▶ abandon
 *                                                │
 *        inbox: created, cancelled, RPC requests ┤
 *          matchmaker: tickets, servers ─▶ commits ┘
 */

export interface LeaseEpochOptions {
  /** Name of the partition. */
  readonly name: string
  readonly store: PartitionStore
  readonly lease: Lease
  /** All tickets, up to date. */
  readonly replica: Replica
  /** Position at which reading of the inbox continues. */
  readonly cursor: string
  /** True if writes that a crash must not lose wait for replicas. */
  readonly isDurable: boolean
  readonly clock: Clock
  readonly random: () => number
  /** Milliseconds for which an ended ticket can be read. */
  readonly endedTicketTtlMs: number
  /** Called once the matches of the previous leader are taken over: this process matches from now on. */
  readonly leading: () => void
  readonly problem: (error: unknown) => void
}

/** Maximum milliseconds that a call for the inbox waits. */
const BLOCK_MS = 1000
const SWEEP_EVERY_MS = 1000
/** Number of tickets that are swept at a time. */
const SWEEP_MOST = 1000

/**
 * Leads for one lease epoch, until the lease is lost or released. Every write carries the epoch's fencing token, so
 * that a leader that has lost its lease changes nothing. Resolves when nothing of the lease epoch is running any more.
 */
export async function leadEpoch(options: LeaseEpochOptions): Promise<void> {
  const { name, store, lease, replica, isDurable, clock, random, endedTicketTtlMs, problem } = options
  const { token, signal } = lease
  const { leader } = replica

  const commits = createCommits({
    commit: (commit) => store.commit(token, commit),
    refused: (ticketId, header) => {
      if (header === undefined || readPrefix(header).letter === 'C') replica.gone([{ ticketId }])
      else void replica.missing([ticketId]).catch(problem)
    },
    isLeaseLost: (error) => error instanceof LeaseLost,
    deposed: lease.lose,
    isLost: lease.isLost,
    isDurable,
    problem,
    clock,
    random,
  })
  const answering = createRpcServer({ leader, reply: commits.reply, answered: store.answered, problem })

  const failed = (error: unknown) => {
    if (error instanceof LeaseLost) lease.lose()
    else problem(error)
  }

  let { cursor } = options
  /** True once the inbox was read up to its end. */
  let isCaughtUp = false
  const readInbox = async () => {
    const inbox = await store.inbox(cursor, { blockMs: isCaughtUp ? BLOCK_MS : 0, signal })
    // Lost entries can only be recovered by reading everything again.
    if (inbox.gap) return lease.lose()
    replica.gone(await replica.applyInbox(inbox.entries))
    cursor = inbox.cursor
    // The previous leader may have executed earlier requests. Followers repeat those that it has not answered.
    if (isCaughtUp) for (const entry of inbox.entries) if (entry.kind === 'ask') answering.take(entry.text)
    isCaughtUp ||= !inbox.isBehind
  }
  const sweep = async () => {
    await clock.sleep(SWEEP_EVERY_MS, signal)
    while ((await store.sweep(token, endedTicketTtlMs, SWEEP_MOST)) >= SWEEP_MOST) signal.throwIfAborted()
  }

  try {
    await replica.lead({ lease, commits })
    leader.start()
    options.leading()
    const untilTheEnd = { signal, clock, failed }
    await Promise.all([repeatUntil(readInbox, untilTheEnd), repeatUntil(sweep, untilTheEnd)])
    // A lease that is to be released is still held: decisions are written, and the next leader continues from there.
    if (lease.isLost()) return
    await leader.stop()
    await commits.flushed().catch(problem)
  } finally {
    replica.abandon()
    commits.stop(new LeaseLost(name))
  }
}
