// pure: what keeps lobbies
import type { Attributes, Lobby } from './lobby.js'

/** A lobby with the version of its record: 1 at first, and one more with each change. */
export interface StoredLobby {
  readonly version: number
  readonly lobby: Lobby
}

export interface PublicQuery {
  /** Values that `data` must have. */
  readonly data: Attributes
  /** Free slots there must be at least; from 0. */
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
 * Stores lobbies for one process, or for many. Every change is one atomic step: it happens completely, and only if the
 * lobby has not been changed since it was read. Records are plain data (JSON can hold all of it) with tokens, addresses
 * and digests of passwords, so protect the store accordingly. Every store must pass `store-suite.fixture.ts`.
 */
export interface LobbyStore {
  /** Stores a lobby at version 1. Returns false, and changes nothing, if the id or the code is taken. */
  create(lobby: Lobby, dueAt: number): Promise<boolean>
  get(id: string): Promise<StoredLobby | undefined>
  getByCode(code: string): Promise<StoredLobby | undefined>
  /**
   * Replaces the version that was read. Returns false, and changes nothing, if that is no longer the present version.
   * Id, code, visibility and creation time never change.
   */
  replace(lobby: Lobby, version: number, dueAt: number): Promise<boolean>
  /**
   * As `replace`, by a lobby that differs from the version that was read only in this member's `lastSeenAt`. Followers
   * need no notification of it. A store may write the time into the record that it holds,
   * though records are otherwise never changed in place: most changes are of this kind.
   */
  noteSeen(lobby: Lobby, version: number, playerId: string, dueAt: number): Promise<boolean>
  /**
   * Deletes the record and frees the code. Returns false, and changes nothing, if that is no longer the present
   * version.
   */
  delete(id: string, version: number): Promise<boolean>
  /** Ids of lobbies whose `dueAt` is not later than `now`, the earliest first. */
  due(now: number, limit: number): Promise<readonly string[]>
  /**
   * Lists public lobbies that are open, or running and still joinable, newest first. Over all pages no lobby comes
   * twice, and every lobby that existed throughout comes once.
   */
  listPublic(query: PublicQuery): Promise<PublicPage>
  /** Ids of the lobbies in which the player is a member, present or away. */
  idsOf(playerId: string): Promise<readonly string[]>
  /** All ids; for rare operations, such as closing everything. */
  ids(): Promise<readonly string[]>
  /**
   * Calls `changed` after every change of the lobby by any process, perhaps late or more often than needed. Returns a
   * function that ends this.
   */
  watch(id: string, changed: () => void): () => void
}

/** Whether the list of public lobbies shows the lobby. */
export const isListed = ({ visibility, phase, lateJoin, outcome }: Lobby): boolean =>
  visibility === 'public' && (phase === 'open' || (phase !== 'closed' && lateJoin && outcome === 'relay'))
