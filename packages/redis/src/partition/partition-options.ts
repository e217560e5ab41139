// pure: what a process of a partition is made of
import type { MatchmakerOptions } from '@muster/matchmaker'
import type { PartitionStore } from './store/store.js'

export interface PartitionOptions extends Omit<MatchmakerOptions, 'journal' | 'ticketLog'> {
  readonly name: string
  /** Whether this process may lead. Default true. */
  readonly mayLead?: boolean | undefined
  /**
   * Whether this process keeps all tickets ready while another one leads: then it takes over within a second or two,
   * however many wait, for the memory and some 10 µs of CPU per ticket. Default true.
   */
  readonly standby?: boolean | undefined
  /** Milliseconds after which another process leads if the leader is gone. From 300; default 1000. */
  readonly leaseMs?: number | undefined
  /** Milliseconds to wait for an answer of the leader. Default 10,000. */
  readonly askTimeoutMs?: number | undefined
}

/** What a partition is made of besides its options. */
export interface PartitionParts {
  /** Opens the store, once the options are checked. */
  readonly openStore: () => PartitionStore
  /** A random name of this process. */
  readonly owner: string
  readonly newId: () => string
  /** Whether entries that a crash must not lose wait for replicas. Default false. */
  readonly isDurable?: boolean | undefined
}
