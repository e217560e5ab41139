// pure: the interface of lobby stores
import type { Attributes, Lobby } from './lobby.js'

/** A lobby with the version of its record: 1 at first, raised by every change. */
export interface StoredLobby {
  readonly version: number
  readonly lobby: Lobby
}

export interface PublicQuery {
  /** Values that `data` must have. */
  readonly data: Attributes
  /** Minimum number of free slots, from 0. */
  readonly minFree: number
  readonly limit: number
  /** Cursor of the previous page; undefined for the first. */
  readonly after: string | undefined
}

export interface PublicPage {
  readonly lobbies: readonly Lobby[]
  /** Cursor of the next page; undefined at the end. A short or empty page need not be the last. */
  readonly next: string | undefined
}

/**
 * Stores lobbies for one process, or for many. Every change is atomic, and fails if the lobby has changed since it was
 * read. Records are plain JSON data with tokens, addresses and digests of passwords, so protect the store accordingly.
 * Every store must pass `store-suite.fixture.ts`.
 */
export interface LobbyStore {
  /** Stores a lobby at version 1. Returns false, and changes nothing, if the id or the code is taken. */
  create(lobby: Lobby, dueAt: number): Promise<boolean>
  get(id: string): Promise<StoredLobby | undefined>
  getByCode(code: string): Promise<StoredLobby | undefined>
  /**
   * Replaces the version that was read. Returns false, and changes nothing, if it is not the current version any more.
   * Id, code, visibility and creation time never change.
   */
  replace(lobby: Lobby, version: number, dueAt: number): Promise<boolean>
  /**
   * Like `replace`, for a lobby that differs from the read version only in this member's `lastSeenAt`. Followers need
   * no notification. Most changes are of this kind, so a store may write the time into the stored record. Otherwise,
   * records are never changed in place.
   */
  noteSeen(lobby: Lobby, version: number, playerId: string, dueAt: number): Promise<boolean>
  /**
   * Deletes the record and frees the code. Returns false, and changes nothing, if the version is not the current one
   * any more.
   */
  delete(id: string, version: number): Promise<boolean>
  /** Returns the ids of lobbies whose `dueAt` is not later than `now`, the earliest first. */
  due(now: number, limit: number): Promise<readonly string[]>
  /**
   * Lists public lobbies that are open, or running and still joinable, the newest first. Over all pages no lobby occurs
   * twice, and every lobby that existed throughout occurs once.
   */
  listPublic(query: PublicQuery): Promise<PublicPage>
  /** Returns the ids of the lobbies that are not closed and in which the player is a member, present or away. */
  idsOf(playerId: string): Promise<readonly string[]>
  /** Returns all ids; for rare operations, such as closing everything. */
  ids(): Promise<readonly string[]>
  /**
   * Calls `changed` after every change of the lobby by any process, possibly late or more often than needed. Returns a
   * function that stops it.
   */
  watch(id: string, changed: () => void): () => void
}

/** True if the list of public lobbies shows the lobby. */
export const isListed = ({ visibility, phase, lateJoin, outcome }: Lobby): boolean =>
  visibility === 'public' && (phase === 'open' || (phase !== 'closed' && lateJoin && outcome === 'relay'))
