import type { Clock } from '@muster/core/clock'
import { within } from '@muster/core/internal'
import type { PartitionStore } from './store/index.js'

/*
 * The lease of a partition, from the view of one process:
 *
 * waiting ── nobody holds the lease ──▶ leading ── renewed every `renewMs` ──┐
 *      ▲                                   │  ▲                                │
 *      │                                   │  └────────────────────────────────┘
 *      └── taken by another, or not renewed in time, or released ──┘
 */

/** One lease epoch: from when the lease was acquired until it is lost or released. */
export interface Lease {
  readonly token: string
  /**
   * Aborted when the lease is lost or is to be released. In the second case, the lease is held until the lease epoch
   * has ended.
   */
  readonly signal: AbortSignal
  /**
   * True while this process can prove that it holds the lease, by its monotonic clock. Call it right before an
   * irreversible action. False for a moment after a stall, true again once the lease is renewed.
   */
  isHeld(): boolean
  /** True if the lease epoch is over for good. */
  isLost(): boolean
  /** Ends the lease epoch immediately, because another process has taken over. */
  lose(): void
}

export interface ElectionOptions {
  readonly store: Pick<PartitionStore, 'acquire' | 'renew' | 'release'>
  /** Random name of this process. */
  readonly owner: string
  readonly clock: Clock
  /**
   * Milliseconds for which the lease is held without a renewal. If renewals are slow, because the event loop or the
   * store is stalled, a process takes a lease of up to ten times this.
   */
  readonly leaseMs: number
  /** Leads until the signal of the lease is aborted. Resolves when nothing of the lease epoch is running any more. */
  readonly lead: (lease: Lease) => Promise<void>
  readonly problem: (error: unknown) => void
}

/** Renewals per lease: three may fail before it ends. */
const RENEWALS = 4
/**
 * The share of a lease for which this process trusts it. The clocks of the store and of this process may run at
 * slightly different speeds, and the network has latency.
 */
const TRUSTED = 0.9
/** Maximum lease of a stalled process, as a multiple of `leaseMs`. After its crash, nobody leads for that long. */
const LONGEST = 10
/** Factor by which the longest recent delay decays with each renewal. */
const FORGETS = 0.95
/** Milliseconds for which a loss counts. With several losses the process waits longer, so that another one leads. */
const RECENT_MS = 60_000
/** Maximum wait after several losses, as a multiple of `leaseMs`. */
const LONGEST_BACK_OFF = 8

/** Leader election by a lease: acquires the lease of the partition whenever no process holds it, and renews it. */
export function createElection({ store, owner, clock, leaseMs, lead, problem }: ElectionOptions) {
  const renewMs = leaseMs / RENEWALS
  const stopping = new AbortController()
  let running: Promise<void> | undefined
  /** Milliseconds of the longest recent delay: a late timer, the store's reply to a request for the lease, or both. */
  let slowestMs = 0
  /** Times at which the lease was lost to another process, in the last minute. */
  let losses: readonly number[] = []

  const pause = (ms: number, signal: AbortSignal) => clock.sleep(ms, signal).catch(() => {})
  /** Returns the duration of the next lease. A stalled process, e.g. with too little CPU, takes a longer one. */
  const wantedMs = () => Math.ceil(Math.min(Math.max(leaseMs, RENEWALS * (renewMs + slowestMs)), LONGEST * leaseMs))
  const took = (ms: number) => {
    slowestMs = Math.max(ms, slowestMs * FORGETS)
  }

  const backOff = async (): Promise<void> => {
    const now = clock.now()
    losses = [...losses.filter((at) => at > now - RECENT_MS), now]
    const times = losses.length === 1 ? 0 : Math.min(2 ** (losses.length - 2), LONGEST_BACK_OFF)
    if (times > 0) await pause(times * leaseMs, stopping.signal)
  }

  /** Renews the lease until it is lost or the process stops. */
  const hold = async (token: string, heldFrom: number, heldMs: number): Promise<void> => {
    const epoch = new AbortController()
    const ended = new AbortController()
    let heldUntil = heldFrom + heldMs * TRUSTED
    let isOver = false
    const isLost = () => isOver
    const lose = () => {
      isOver = true
      epoch.abort(new Error('this process has lost the lease of the partition'))
    }
    const released = new Error('this process releases the lease of the partition')
    const release = () => epoch.abort(released)
    const isHeld = () => !isOver && clock.now() < heldUntil
    let hasFailed = false
    const leading = lead({ token, signal: epoch.signal, isHeld, isLost, lose })
      .catch((error: unknown) => {
        // The process was stopped while it took over.
        if (error === released) return
        hasFailed = true
        problem(error)
      })
      .finally(() => ended.abort())
    stopping.signal.addEventListener('abort', release, { once: true })
    if (stopping.signal.aborted) release()
    /** Number of consecutive renewals without a reply. */
    let missed = 0
    while (!ended.signal.aborted && !isLost()) {
      const dueAt = clock.now() + (missed === 1 ? 0 : renewMs)
      await pause(dueAt - clock.now(), ended.signal)
      if (ended.signal.aborted) break
      const at = clock.now()
      const wanted = wantedMs()
      try {
        // Wait for a renewal as long as the lease would last. A stalled process may miss a reply that has arrived, so a
        // missing reply does not end the lease: only another leader does.
        const renewed = await within(store.renew(token, wanted), wanted, clock)
        if (renewed === false) lose()
        missed = renewed === undefined ? missed + 1 : 0
        if (renewed === true) heldUntil = at + wanted * TRUSTED
      } catch (error) {
        missed += 1
        problem(error)
      }
      took(clock.now() - dueAt)
      if (missed > 1 && !isHeld()) lose()
    }
    stopping.signal.removeEventListener('abort', release)
    await leading
    await store.release(token).catch(problem)
    // `lead()` failed: back off for one lease, so that another process can acquire it.
    if (hasFailed) await pause(leaseMs, stopping.signal)
    else if (isOver) await backOff()
  }

  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const askedAt = clock.now()
      const wanted = wantedMs()
      try {
        const acquired = await store.acquire(owner, wanted)
        if (acquired.kind === 'acquired') {
          await hold(acquired.token, askedAt, wanted)
        } else {
          const dueAt = askedAt + Math.min(Math.max(acquired.forMs, 1), renewMs)
          took(clock.now() - askedAt)
          await pause(dueAt - clock.now(), stopping.signal)
          took(clock.now() - dueAt)
        }
      } catch (error) {
        if (stopping.signal.aborted) return
        problem(error)
        await pause(renewMs, stopping.signal)
      }
    }
  }

  return {
    /** Starts to compete for the lease. */
    start: () => void (running ??= run()),
    /** Ends the lease epoch, if there is one, and then releases the lease. Resolves after that. */
    stop: async () => {
      stopping.abort()
      await running
    },
  }
}
