// pure: the keys of a partition
import type { KeySpace } from '../../connection/index.js'

/**
 * Format of the records under these keys. A version that older ones could not read beside gets the next number, which
 * the first leader of that version writes. A partition without a number has format 1.
 */
export const FORMAT = 2

/** All in one slot: see docs/decisions/0050. */
export const partitionKeys = (name: KeySpace) => ({
  /** Hash: ticket → `<createdAt> <body>`. */
  bodies: name('b'),
  /** Hash: ticket → header (header.ts); no entry while nothing has changed. */
  headers: name('s'),
  /** Hash: match → assignment, from when its first ticket is assigned until its tickets are swept. */
  assignments: name('a'),
  /** Hash: player → ids of tickets, space between. */
  players: name('p'),
  /** Hash: `s:` and a server, or `m:` and a match → record. */
  hosting: name('h'),
  /** Of format 1. Hash: match, or server of a pool → record of both. */
  records1: name('j'),
  /** Hash: match → ids of the tickets that it locks, space between. */
  locks: name('l'),
  /** Hash: backfill → text. */
  backfills: name('k'),
  /** Hash: key → text, of what the leader remembers. */
  notes: name('n'),
  /** Stream, capped: `+` ids, `-` id and who cancelled a match that was found, `?` question. */
  inbox: name('in'),
  /** Stream, capped: `c` and a line for each ticket: id and prefix of the header. */
  changes: name('ev'),
  /** List: time, ids of tickets that ended, and of matches that are over (with = before). */
  ended: name('e'),
  /** Text with a lifetime: the token of the leader. */
  lease: name('lead'),
  /** Text: the token of the newest leader. */
  epoch: name('epoch'),
  /** Hash: text, since, format of all records of the partition (see `FORMAT`). */
  inForce: name('q'),
  /** Stream, capped and with a lifetime. */
  repliesTo: (follower: string) => name(`r:${follower}`),
})

export type PartitionKeys = ReturnType<typeof partitionKeys>
