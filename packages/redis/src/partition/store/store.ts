// pure: the interface of the store that holds the tickets, matches and the lease of a partition

/** Searching, matched, assigned, cancelled. */
export type HeaderLetter = 'S' | 'M' | 'A' | 'C'

export interface NewHeader {
  readonly ticketId: string
  readonly header: string
  /**
   * The ticket ends with this header: it is kept for its retention time, then swept. For an assigned ticket that means
   * that its match is over. Default: whether the letter is C.
   */
  readonly ended?: boolean | undefined
  /** Players who are no longer in the ticket from now on. */
  readonly frees?: readonly string[] | undefined
}

/**
 * A change of the record of a server or of a match; without `text` the server is gone, or the match over, and the
 * record is deleted. `key`: `s:` and the id of the server, or `m:` and that of the match.
 */
export type HostingChange =
  | {
      readonly key: string
      /** The record, e.g. as JSON. */
      readonly text: string
      /**
       * Of a match: tickets that must be matched in it, or assigned to it; otherwise nothing of its transaction is
       * written, and the match is `unmet`.
       */
      readonly requires?: readonly string[] | undefined
      /**
       * From now on `cancel` is too late for the required tickets, for as long as they are matched in this match. A
       * record that requires nothing keeps the locks that there are. Default false.
       */
      readonly locks?: boolean | undefined
    }
  | {
      readonly key: string
      readonly text?: undefined
      /** Of these tickets, those assigned to this match end, and their players are in them no longer. */
      readonly ends?: readonly { readonly ticketId: string; readonly players: readonly string[] }[] | undefined
    }

/** Changes that are written together or not at all. At most one of them has requirements, and then none deletes. */
export type HostingTransaction = readonly HostingChange[]

/** What the leader remembers under a key of its own, for the next leader and for followers; see notes.ts. */
export interface Note {
  readonly key: string
  /** Undefined: it is forgotten. */
  readonly text: string | undefined
}

export interface FollowerReply {
  readonly follower: string
  readonly text: string
}

/**
 * What the leader decided, in this order: headers (of each ticket the newest alone), players, servers and matches,
 * backfills, notes, answers.
 */
export interface Commit {
  readonly headers?: readonly NewHeader[] | undefined
  /** Players who have left a ticket that continues without them. */
  readonly left?: readonly { readonly ticketId: string; readonly players: readonly string[] }[] | undefined
  readonly hosting?: readonly HostingTransaction[] | undefined
  /** Without `text` the backfill is deleted. */
  readonly backfills?: readonly { readonly backfillId: string; readonly text: string | undefined }[] | undefined
  readonly notes?: readonly Note[] | undefined
  /** Answers to followers, in order. */
  readonly replies?: readonly FollowerReply[] | undefined
  /** Answer only once as many replicas have it as the store requires. Default false. */
  readonly durable?: boolean | undefined
}

export interface CommitOutcome {
  /**
   * Headers that were not written, with the present one: the ticket was cancelled meanwhile (C), its version is not
   * lower than the new one, or there is no such ticket (undefined).
   */
  readonly refused: readonly { readonly ticketId: string; readonly header: string | undefined }[]
  /** Matches whose transactions were not written, with those of the required tickets that are not in the match. */
  readonly unmet: readonly { readonly matchId: string; readonly ticketIds: readonly string[] }[]
}

/** A ticket to be created. */
export interface NewTicket {
  /** 1 to 64 of A–Z, a–z, 0–9, _ and -. */
  readonly id: string
  /** The checked ticket as JSON. It never changes. */
  readonly body: string
  /** Ids of its players, each once. */
  readonly players: readonly string[]
  /**
   * Players who may be in other tickets too: player → exactly the tickets that were seen there. If these have changed
   * meanwhile, the player is busy again. Default: no player may be in another ticket.
   */
  readonly permitted?: ReadonlyMap<string, readonly string[]> | undefined
}

/** A player and the tickets that the player is in, oldest first. */
export interface PlayerTickets {
  readonly playerId: string
  readonly ticketIds: readonly string[]
}

/** A stored ticket. */
export interface StoredTicket {
  readonly id: string
  /** Epoch milliseconds on the store's clock. */
  readonly createdAt: number
  readonly body: string
  /** See header.ts. Undefined: nothing has changed since it was created. */
  readonly header: string | undefined
}

export type CreateOutcome =
  | { readonly kind: 'created'; readonly createdAt: number }
  /** There is a ticket of this id: another one, or this one, whose first answer was lost. */
  | { readonly kind: 'exists'; readonly ticket: StoredTicket }
  /** These of its players are in other tickets. */
  | { readonly kind: 'busy'; readonly players: readonly PlayerTickets[] }
  /** The partition holds `maxTickets` tickets. */
  | { readonly kind: 'full' }
  /** It could be created, but another of those could not that are created together. */
  | { readonly kind: 'withheld' }

export type CancelOutcome =
  /** The ticket is cancelled, by this call or before; `header` is how. */
  | { readonly kind: 'cancelled'; readonly header: string }
  /** The ticket is assigned or about to be. */
  | { readonly kind: 'late'; readonly header: string }
  | { readonly kind: 'unknown' }

/** The inbox, which the leader reads: the actions of followers, in order. */
export type InboxEntry =
  | { readonly kind: 'created'; readonly ticketIds: readonly string[] }
  | {
      readonly kind: 'cancelled'
      readonly ticketId: string
      /** The player who did it, if the ticket was matched. */
      readonly by?: string | undefined
    }
  | { readonly kind: 'ask'; readonly text: string }

export interface TailOptions {
  /** Milliseconds to wait for a first entry; 0 does not wait. */
  readonly blockMs: number
  /** Ends the wait: the call rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

interface Tail {
  /** Where to continue. */
  readonly cursor: string
  /**
   * Entries between `after` and these were lost: they were trimmed, or Redis lost its data. Read everything again, from
   * after this call on.
   */
  readonly gap: boolean
}

export interface Inbox extends Tail {
  readonly entries: readonly InboxEntry[]
}

/** The newest state of a ticket at that moment; the ticket itself is read by `read`. */
export interface TicketChange {
  readonly ticketId: string
  readonly letter: HeaderLetter
  readonly version: number
}

export interface Changes extends Tail {
  /** In order; a ticket may come several times. */
  readonly tickets: readonly TicketChange[]
  /** What the leader answered to this follower. */
  readonly replies: readonly string[]
  /** There may be more changes already: the replies may have come after changes that are not among these. */
  readonly isBehind: boolean
}

/** The record of a server or of a match. */
export interface StoredHosting {
  /** See `HostingChange`. */
  readonly key: string
  readonly text: string
  /** Of a match: tickets that can no longer be cancelled while they are matched in it. */
  readonly locked: readonly string[]
}

export interface StoredBackfill {
  readonly backfillId: string
  readonly text: string
}

/** A part of all there is. An item may come twice; those there throughout come at least once. */
export interface Batch<T> {
  readonly items: readonly T[]
  /** For the next call; undefined at the end. */
  readonly next: string | undefined
}

export type Acquired =
  /** `token` fences all writes of this leader. */
  | { readonly kind: 'acquired'; readonly token: string }
  /** Another owner leads, for at least `forMs` milliseconds more unless it releases. */
  | { readonly kind: 'held'; readonly owner: string; readonly forMs: number }

export interface InForce {
  readonly text: string
  /** Epoch milliseconds on the store's clock. */
  readonly since: number
}

/**
 * The state that all processes of a partition share. Every method is one atomic step, or several, any of which may be
 * the last. Methods are idempotent: a call may be repeated after its answer was lost, with the same result. Methods
 * with a fencing token reject with `LeaseLost`, and change nothing, once another leader has taken over or the store has
 * lost its data.
 *
 * Every method rejects with a `RedisError` if Redis fails: its `outcome` says whether the call may have taken effect.
 * Every implementation must pass `store-suite.fixture.ts`.
 */
export interface PartitionStore {
  /**
   * Creates tickets, each by itself, in order. What is called within one turn of the event loop is sent together.
   * @throws {InvalidInput} for a body that is too long
   */
  create(tickets: readonly NewTicket[]): Promise<readonly CreateOutcome[]>
  /**
   * Creates tickets, all or none, of which no two have a player in common.
   * @throws {InvalidInput} for a body that is too long
   */
  createTogether(tickets: readonly NewTicket[]): Promise<readonly CreateOutcome[]>
  /** Reads tickets; undefined for those that do not exist (any more). */
  read(ticketIds: readonly string[]): Promise<readonly (StoredTicket | undefined)[]>
  /**
   * Cancels a ticket that is searching, or matched and not locked, and frees its players.
   * @param players all players of the ticket.
   * @param by the player who does it; undefined for a backend.
   */
  cancel(ticketId: string, players: readonly string[], by?: string): Promise<CancelOutcome>
  /** The tickets of each player: until the ticket is cancelled, its match is over, or the player has left it. */
  playerTickets(playerIds: readonly string[]): Promise<readonly (readonly string[])[]>

  /**
   * Posts an RPC request to the leader. It may get lost, so repeat it (with an id of its own inside) until it is
   * answered.
   * @throws {InvalidInput} for one that is too long
   */
  ask(text: string): Promise<void>
  /**
   * The answer to a follower that begins with a text, among those that are kept (see `StoreBounds`): the newest of
   * them; undefined if there is none.
   */
  answered(follower: string, begins: string): Promise<string | undefined>
  /**
   * What followers did after a cursor. Without one, it answers at once with the present end and no entries. One call at
   * a time.
   */
  inbox(after: string | undefined, options: TailOptions): Promise<Inbox>
  /**
   * What changed after a cursor, and replies to this follower: see `inbox`.
   * @param follower name of the follower, the same in each call.
   */
  changes(after: string | undefined, follower: string, options: TailOptions): Promise<Changes>

  /** Takes the lease if nobody holds it, by the store's clock. @param owner a random name of this process. */
  acquire(owner: string, leaseMs: number): Promise<Acquired>
  /** Holds the lease for `leaseMs` more; false if another leader has taken over. */
  renew(token: string, leaseMs: number): Promise<boolean>
  /** Gives the lease up, so that another process need not wait for its end. Does nothing if it is no longer held. */
  release(token: string): Promise<void>
  /** Succeeds if the leader is still the leader. @throws {LeaseLost} */
  fence(token: string): Promise<void>

  /**
   * Writes what the leader decided. A commit of more than 256 tickets is done in several steps, in order. Commits must
   * not overlap if they may have to be repeated.
   * @throws {LeaseLost}
   */
  commit(token: string, commit: Commit): Promise<CommitOutcome>
  /**
   * Deletes tickets that ended more than `olderThanMs` ago, oldest first, at most about `most`. Returns how many.
   * @throws {LeaseLost}
   */
  sweep(token: string, olderThanMs: number, most: number): Promise<number>

  /**
   * Tickets, except cancelled ones, in batches. To miss nothing take the end of `inbox` (and of `changes`) before the
   * first call, and read on from there afterwards.
   * @param at `next` of the batch before; undefined for the first.
   */
  loadTickets(at: string | undefined): Promise<Batch<StoredTicket>>
  loadHosting(at: string | undefined): Promise<Batch<StoredHosting>>
  loadBackfills(at: string | undefined): Promise<Batch<StoredBackfill>>
  loadNotes(at: string | undefined): Promise<Batch<Note>>
  /** The texts of notes; undefined for those that do not exist. */
  readNotes(keys: readonly string[]): Promise<readonly (string | undefined)[]>

  /**
   * Brings records that a leader of an earlier version has left into the present format. Nothing is read or decided of
   * them before.
   * @throws {LeaseLost}
   */
  convert(token: string): Promise<void>

  /** Says which queues are in force, as a text; `since` stays while the text stays. @throws {LeaseLost} */
  setInForce(token: string, text: string): Promise<InForce>
  /** @throws {PartitionNewer} */
  getInForce(): Promise<InForce | undefined>

  /** The store's clock in epoch milliseconds. It may be turned back. */
  time(): Promise<number>
  /** Ends tails, which then reject, and connections of the store's own. */
  close(): Promise<void>
}
