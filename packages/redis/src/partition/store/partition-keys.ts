// pure: the keys of a partition
import type { KeySpace } from '../../connection/index.js'

/** All in one slot: see docs/decisions/0050. */
export interface PartitionKeys {
  /** Hash: ticket → `<createdAt> <body>`. */
  readonly bodies: string
  /** Hash: ticket → header (header.ts); no entry while nothing has changed. */
  readonly headers: string
  /** Hash: match → assignment, from when its first ticket is assigned until its tickets are swept. */
  readonly assignments: string
  /** Hash: player → ids of tickets, space between. */
  readonly players: string
  /** Hash: match → record of its server. */
  readonly servers: string
  /** Hash: match → ids of the tickets that it locks, space between. */
  readonly locks: string
  /** Hash: backfill → text. */
  readonly backfills: string
  /** Hash: key → text, of what the leader remembers. */
  readonly notes: string
  /** Stream, capped: `+` ids, `-` id and who cancelled a match that was found, `?` question. */
  readonly inbox: string
  /** Stream, capped: `c` and a line for each ticket: id and prefix of the header. */
  readonly changes: string
  /** List: time, ids of tickets that ended, and of matches that are over (with = before). */
  readonly ended: string
  /** Text with a lifetime: the token of the leader. */
  readonly lease: string
  /** Text: the token of the newest leader. */
  readonly epoch: string
  /** Hash: text, since. */
  readonly inForce: string
  /** Stream, capped and with a lifetime. */
  readonly repliesTo: (follower: string) => string
}

export const partitionKeys = (name: KeySpace): PartitionKeys => ({
  bodies: name('b'),
  headers: name('s'),
  assignments: name('a'),
  players: name('p'),
  servers: name('j'),
  locks: name('l'),
  backfills: name('k'),
  notes: name('n'),
  inbox: name('in'),
  changes: name('ev'),
  ended: name('e'),
  lease: name('lead'),
  epoch: name('epoch'),
  inForce: name('q'),
  repliesTo: (follower) => name(`r:${follower}`),
})
