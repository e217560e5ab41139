// pure: the interface of the store that holds the tickets, matches and the lease of a partition
import type { TailOptions } from '../../stream/follow-stream.js'

/** The status of a ticket: searching, matched, assigned, cancelled. */
export type HeaderLetter = 'S' | 'M' | 'A' | 'C'

export interface NewHeader {
  readonly ticketId: string
  readonly header: string
  /**
   * The ticket ends with this header: it is kept for its retention time, then swept. For an assigned ticket this means
   * that its match is over. Default: true if the letter is C.
   */
  readonly ended?: boolean | undefined
  /** Players who have left the ticket. */
  readonly frees?: readonly string[] | undefined
}

/**
 * A change of the record of a server or of a match. Without `text` the record is deleted, because the server is gone or
 * the match is over. `key`: `s:` and the id of the server, or `m:` and that of the match.
 */
export type HostingChange =
  | {
      readonly key: string
      /** The record, e.g. as JSON. */
      readonly text: string
      /**
       * For a match: tickets that must be matched in it or assigned to it. If one is not, nothing of its transaction is
       * written, and the match is `unmet`.
       */
      readonly requires?: readonly string[] | undefined
      /**
       * Locks the required tickets: they cannot be cancelled while they are matched in this match. A record that
       * requires nothing keeps the existing locks. Default false.
       */
      readonly locks?: boolean | undefined
    }
  | {
      readonly key: string
      readonly text?: undefined
      /** Tickets that end if they are assigned to this match, and their players, who are freed. */
      readonly ends?: readonly { readonly ticketId: string; readonly players: readonly string[] }[] | undefined
    }

/**
 * Changes that are written together or not at all. At most one of them has `requires`. Such a transaction contains no
 * deletion.
 */
export type HostingTransaction = readonly HostingChange[]

/** A note of the leader under its own key, for the next leader and for followers; see notes.ts. */
export interface PartitionRecord {
  readonly key: string
  /** The new text. Undefined deletes the note. */
  readonly text: string | undefined
}

export interface FollowerReply {
  readonly follower: string
  readonly text: string
}

/**
 * The leader's decisions, written in this order: headers (only the newest of each ticket), players, servers and
 * matches, backfills, notes, replies.
 */
export interface Commit {
  readonly headers?: readonly NewHeader[] | undefined
  /** Players who have left a ticket that continues without them. */
  readonly left?: readonly { readonly ticketId: string; readonly players: readonly string[] }[] | undefined
  readonly hosting?: readonly HostingTransaction[] | undefined
  /** Changed backfills. A backfill without `text` is deleted. */
  readonly backfills?: readonly { readonly backfillId: string; readonly text: string | undefined }[] | undefined
  readonly notes?: readonly PartitionRecord[] | undefined
  /** Replies to followers, in order. */
  readonly replies?: readonly FollowerReply[] | undefined
  /** Sends the replies only once the required number of replicas has them. Default false. */
  readonly durable?: boolean | undefined
}

export interface CommitOutcome {
  /**
   * Headers that were not written, each with the current one. The ticket was cancelled meanwhile (C), its version is
   * not lower than the new one, or there is no such ticket (undefined).
   */
  readonly refused: readonly { readonly ticketId: string; readonly header: string | undefined }[]
  /** Matches whose transactions were not written, with the required tickets that are not in the match. */
  readonly unmet: readonly { readonly matchId: string; readonly ticketIds: readonly string[] }[]
}

/** A ticket to create. */
export interface NewTicket {
  /** 1 to 64 of A–Z, a–z, 0–9, _ and -. */
  readonly id: string
  /** The validated ticket as JSON. It never changes. */
  readonly body: string
  /** Ids of the ticket's players, without duplicates. */
  readonly players: readonly string[]
  /**
   * Players who may be in other tickets too, each with the tickets that the caller has seen. If these have changed
   * meanwhile, the player counts as busy. Default: no player may be in another ticket.
   */
  readonly permitted?: ReadonlyMap<string, readonly string[]> | undefined
}

/** A player and the player's tickets, the oldest first. */
export interface PlayerTickets {
  readonly playerId: string
  readonly ticketIds: readonly string[]
}

/** A stored ticket. */
export interface StoredTicket {
  readonly id: string
  /** Epoch milliseconds by the store's clock. */
  readonly createdAt: number
  readonly body: string
  /** The part of the ticket that changes: see header.ts. Undefined if nothing has changed since its creation. */
  readonly header: string | undefined
}

export type TicketCreateOutcome =
  | { readonly kind: 'created'; readonly createdAt: number }
  /** There is a ticket of this id: another one, or the same one, whose first reply was lost. */
  | { readonly kind: 'exists'; readonly ticket: StoredTicket }
  /** These players of the ticket are in other tickets. */
  | { readonly kind: 'busy'; readonly players: readonly PlayerTickets[] }
  /** The partition has `maxTickets` tickets. */
  | { readonly kind: 'full' }
  /** The ticket could be created, but another ticket of the group could not. */
  | { readonly kind: 'withheld' }

export type CancelOutcome =
  /** The ticket is cancelled, by this call or an earlier one; `header` is its header. */
  | { readonly kind: 'cancelled'; readonly header: string }
  /** The ticket is assigned or about to be. */
  | { readonly kind: 'late'; readonly header: string }
  | { readonly kind: 'unknown' }

/** The inbox that the leader reads: the actions of followers, in order. */
export type InboxEntry =
  | { readonly kind: 'created'; readonly ticketIds: readonly string[] }
  | {
      readonly kind: 'cancelled'
      readonly ticketId: string
      /** The player who cancelled, if the ticket was matched. */
      readonly by?: string | undefined
    }
  | { readonly kind: 'ask'; readonly text: string }

interface LogTail {
  /** Position at which to continue. */
  readonly cursor: string
  /**
   * True if entries after `after` were lost: they were trimmed, or Redis lost its data. Then read everything again
   * after this call.
   */
  readonly gap: boolean
  /** True if there may be further entries already, because one read returns a limited number. */
  readonly isBehind: boolean
}

export interface Inbox extends LogTail {
  readonly entries: readonly InboxEntry[]
}

/** A changed ticket: its newest status and version. `read` returns the ticket itself. */
export interface TicketChange {
  readonly ticketId: string
  readonly letter: HeaderLetter
  readonly version: number
}

export interface Changes extends LogTail {
  /** The changed tickets in order. A ticket may occur several times. */
  readonly tickets: readonly TicketChange[]
  /** The leader's replies to this follower. While `isBehind`, one may have come after changes that are not read yet. */
  readonly replies: readonly string[]
}

/** The record of a server or of a match. */
export interface StoredHosting {
  /** `s:` and the id of the server, or `m:` and that of the match. */
  readonly key: string
  readonly text: string
}

export interface StoredBackfill {
  readonly backfillId: string
  readonly text: string
}

/** A page of all items. An item may occur twice. Items that exist throughout occur at least once. */
export interface ScanPage<T> {
  readonly items: readonly T[]
  /** Cursor of the next call; undefined at the end. */
  readonly next: string | undefined
}

export type Acquired =
  /** The lease was acquired. `token` fences all writes of this leader. */
  | { readonly kind: 'acquired'; readonly token: string }
  /** Another owner leads, for at least `forMs` more milliseconds unless it releases the lease. */
  | { readonly kind: 'held'; readonly owner: string; readonly forMs: number }

export interface StoredQueues {
  readonly text: string
  /** Epoch milliseconds by the store's clock. */
  readonly since: number
}

/**
 * The state that all processes of a partition share. Every method is one atomic step, or several steps. It may end
 * after any of them. Methods are idempotent: a call may be repeated after its reply was lost, with the same result.
 * Methods with a fencing token reject with `LeaseLost`, and change nothing, once another leader has taken over or the
 * store has lost its data.
 *
 * Every method rejects with a `RedisError` if Redis fails: its `outcome` states whether the call may have taken effect.
 * Every implementation must pass `store-suite.fixture.ts`.
 */
export interface PartitionStore {
  /**
   * Creates tickets independently of each other, in order. Calls within one turn of the event loop are sent together.
   * @throws {InvalidInput} for a body that is too long
   */
  create(tickets: readonly NewTicket[]): Promise<readonly TicketCreateOutcome[]>
  /**
   * Creates all tickets or none. No two of them may have a player in common.
   * @throws {InvalidInput} for a body that is too long
   */
  createTogether(tickets: readonly NewTicket[]): Promise<readonly TicketCreateOutcome[]>
  /** Reads tickets; undefined for those that do not exist (any more). */
  read(ticketIds: readonly string[]): Promise<readonly (StoredTicket | undefined)[]>
  /**
   * Cancels a ticket that is searching, or matched and not locked, and frees its players.
   * @param players all players of the ticket.
   * @param by the player who cancels; undefined for a backend.
   */
  cancel(ticketId: string, players: readonly string[], by?: string): Promise<CancelOutcome>
  /**
   * Returns the tickets of each player. A ticket is removed when it is cancelled, its match is over, or the player
   * leaves it.
   */
  playerTickets(playerIds: readonly string[]): Promise<readonly (readonly string[])[]>

  /**
   * Posts an RPC request to the leader. It may get lost, so repeat it (with an id in its text) until there is a reply.
   * @throws {InvalidInput} for one that is too long
   */
  ask(text: string): Promise<void>
  /**
   * Returns the newest stored reply to a follower that begins with a string (see `StoreBounds`); undefined if there is
   * none.
   */
  answered(follower: string, begins: string): Promise<string | undefined>
  /**
   * Returns the followers' actions after a cursor. Without a cursor, it returns the current end immediately, without
   * entries.
   * One call at a time.
   */
  inbox(after: string | undefined, options: TailOptions): Promise<Inbox>
  /**
   * Returns the changes after a cursor, and replies to this follower: see `inbox`.
   * @param follower name of the follower, the same in each call.
   */
  changes(after: string | undefined, follower: string, options: TailOptions): Promise<Changes>

  /** Acquires the lease if nobody holds it, by the store's clock. @param owner a random name of this process. */
  acquire(owner: string, leaseMs: number): Promise<Acquired>
  /** Extends the lease by `leaseMs` from now. False if another leader has taken over, or if commits were lost. */
  renew(token: string, leaseMs: number): Promise<boolean>
  /** Releases the lease, so that another process need not wait for its end. Does nothing if it is not held any more. */
  release(token: string): Promise<void>
  /** Resolves if the process with this token still leads. @throws {LeaseLost} */
  fence(token: string): Promise<void>

  /**
   * Writes the leader's decisions. A commit of more than 256 tickets is done in several steps, in order. Commits that
   * may have to be repeated must not overlap.
   * @throws {LeaseLost}
   */
  commit(token: string, commit: Commit): Promise<CommitOutcome>
  /**
   * Deletes tickets that ended more than `olderThanMs` ago, the oldest first, at most about `most`. Returns the number.
   * @throws {LeaseLost}
   */
  sweep(token: string, olderThanMs: number, most: number): Promise<number>

  /**
   * Returns tickets, except cancelled ones, page by page. To miss nothing, get the end of `inbox` (and of `changes`)
   * before the first call, and read from there afterwards.
   * @param at `next` of the previous page; undefined for the first.
   */
  loadTickets(at: string | undefined): Promise<ScanPage<StoredTicket>>
  loadHosting(at: string | undefined): Promise<ScanPage<StoredHosting>>
  loadBackfills(at: string | undefined): Promise<ScanPage<StoredBackfill>>
  loadNotes(at: string | undefined): Promise<ScanPage<PartitionRecord>>
  /** Returns the texts of notes; undefined for those that do not exist. */
  readPartitionRecords(keys: readonly string[]): Promise<readonly (string | undefined)[]>

  /**
   * Returns true if the store has fewer commits of leaders than this process knows of: it has gone back to an earlier
   * state. True once for each loss. False if the store is empty.
   */
  hasGoneBack(): Promise<boolean>

  /**
   * Converts records of an earlier version's leader to the current format. Run it before anything else is read.
   * @throws {LeaseLost}
   */
  convert(token: string): Promise<void>

  /** Stores the current queues as a string. `since` changes only with the string. @throws {LeaseLost} */
  setInForce(token: string, text: string): Promise<StoredQueues>
  /** Returns the stored queues of the leader. @throws {PartitionNewer} */
  getInForce(): Promise<StoredQueues | undefined>

  /** Returns the store's clock in epoch milliseconds. It may be set back. */
  time(): Promise<number>
  /** Ends waiting reads, which then reject, and closes the store's own connections. */
  close(): Promise<void>
}
