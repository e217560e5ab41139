// pure: what keeps lobbies
import type { Attributes } from './attributes.js'
import type { Lobby } from './lobby.js'

/** A lobby with the number of its change: from 1, one more with each. */
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
  /** Where the last page ended; undefined for the first. */
  readonly after: string | undefined
}

export interface PublicPage {
  readonly lobbies: readonly Lobby[]
  /** Undefined when there is no more. A page that is short, or empty, need not be the last. */
  readonly next: string | undefined
}

/**
 * Keeps lobbies for one process, or for many. Every change is one atomic step: it happens only if nobody
 * else has changed the lobby since it was read, and then it happens as a whole. What is stored is plain
 * data (JSON says it all); it holds tokens, addresses and digests of passwords, so keep it as safe as those.
 * Any store must pass `store-suite.fixture.ts`.
 */
export interface LobbyStore {
  /** At version 1. False, and nothing done, if the id or the code is taken. */
  create(lobby: Lobby, dueAt: number): Promise<boolean>
  get(id: string): Promise<StoredLobby | undefined>
  getByCode(code: string): Promise<StoredLobby | undefined>
  /**
   * Puts `lobby` in place of the version that was read. False, and nothing done, if that is not the
   * present version any more. Id, code, visibility and creation time never change.
   */
  replace(lobby: Lobby, version: number, dueAt: number): Promise<boolean>
  /** Also frees the code. False, and nothing done, if that is not the present version any more. */
  delete(id: string, version: number): Promise<boolean>
  /** Ids of lobbies whose `dueAt` is not later than `now`, the earliest first. */
  due(now: number, limit: number): Promise<readonly string[]>
  /**
   * Public lobbies that are open, or running and can still be joined, newest first. Going through the pages
   * gives no lobby twice, and all that were there throughout.
   */
  listPublic(query: PublicQuery): Promise<PublicPage>
  /** Ids of the lobbies in which the player is a member, present or away. */
  idsOf(playerId: string): Promise<readonly string[]>
  /** All ids there are; for what is done rarely, such as closing everything. */
  ids(): Promise<readonly string[]>
  /**
   * Calls `changed` after every change of the lobby, by whatever process; perhaps late, perhaps too often. Returns how
   * to end that.
   */
  watch(id: string, changed: () => void): () => void
}

/** Whether a list of public lobbies may show it. */
export const isListed = ({ visibility, phase, lateJoin, outcome }: Lobby): boolean =>
  visibility === 'public' && (phase === 'open' || (phase !== 'closed' && lateJoin && outcome === 'relay'))
