// pure: the keys of a partition
import type { KeySpace } from '../../connection/index.js'

/**
 * Format of the records under these keys. A version gets a new number if older versions cannot read its records. The
 * first leader of that version writes the number. A partition without a number has format 1.
 */
export const FORMAT = 2

/** Returns the last part of the keys of the partition with this name. */
export const keyOfPartition = (name: string): string => `partition.${name}`

/** The keys of a partition, all in one slot: see docs/decisions/0050. */
export const partitionKeys = (name: KeySpace) => ({
  /** Hash: ticket → `<createdAt> <body>`. */
  bodies: name('b'),
  /** Hash: ticket → header (header.ts); no entry while nothing has changed. */
  headers: name('s'),
  /** Hash: match → assignment, from when its first ticket is assigned until its tickets are swept. */
  assignments: name('a'),
  /** Hash: player → ids of tickets, separated by spaces. */
  players: name('p'),
  /** Hash: `s:` and a server, or `m:` and a match → record. */
  hosting: name('h'),
  /** Format 1. Hash: match, or server of a pool → record of both. */
  records1: name('j'),
  /** Hash: match → ids of the tickets that it locks, separated by spaces. */
  locks: name('l'),
  /** Hash: backfill → record. */
  backfills: name('k'),
  /** Hash: key → value of the leader's notes. */
  notes: name('n'),
  /** Stream, capped: `+` ids; `-` id and the player who cancelled a found match; `?` RPC request. */
  inbox: name('in'),
  /** Stream, capped: `c` and a line for each ticket: id and prefix of the header. */
  changes: name('ev'),
  /** List: time, ids of ended tickets, and of ended matches (prefixed with =). */
  ended: name('e'),
  /** String with an expiry: the token of the leader. */
  lease: name('lead'),
  /** String: the token of the newest leader. */
  epoch: name('epoch'),
  /**
   * Hash: text of the current queues, since, format of all records of the partition (see `FORMAT`), and numbers of
   * commits (commit-numbers.ts).
   */
  inForce: name('q'),
  /** Replies to a follower. Stream, capped and with an expiry. */
  repliesTo: (follower: string) => name(`r:${follower}`),
})

export type PartitionKeys = ReturnType<typeof partitionKeys>
