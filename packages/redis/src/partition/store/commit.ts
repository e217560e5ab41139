// pure: what a leader writes

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

/** A change of a match's record; without `text` the match is over and the record is deleted. */
export type RecordChange =
  | {
      readonly matchId: string
      /** The record, e.g. as JSON. */
      readonly text: string
      /**
       * Tickets that must be matched in this match, or assigned to it; otherwise the record does not change and the
       * match is `unmet`.
       */
      readonly requires?: readonly string[] | undefined
      /**
       * From now on `cancel` is too late for the required tickets, for as long as they are matched in this match. A
       * record that requires nothing keeps the locks that there are. Default false.
       */
      readonly locks?: boolean | undefined
    }
  | {
      readonly matchId: string
      readonly text?: undefined
      /** Of these tickets, those assigned to this match end, and their players are in them no longer. */
      readonly ends?: readonly { readonly ticketId: string; readonly players: readonly string[] }[] | undefined
    }

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
 * What the leader decided, in this order: headers (of each ticket the newest alone), players, records, backfills,
 * notes, answers.
 */
export interface Commit {
  readonly headers?: readonly NewHeader[] | undefined
  /** Players who have left a ticket that continues without them. */
  readonly left?: readonly { readonly ticketId: string; readonly players: readonly string[] }[] | undefined
  readonly records?: readonly RecordChange[] | undefined
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
  /** Records that were not written, with those of the required tickets that are not in the match. */
  readonly unmet: readonly { readonly matchId: string; readonly ticketIds: readonly string[] }[]
}
