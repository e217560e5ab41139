import type { WithProblems } from '@muster/core/runtime'
import type { EventEmitter } from 'eventemitter3'
import type { OrphanOptions, ReapedOrphans } from '../sessions/orphans.js'
import type { AttributeChanges } from './attributes.js'
import type { Happening } from './event.js'
import type { MatchReport } from './matchmaker.js'
import type { CreateLobby, JoinLobby, ListLobbies } from './options.js'
import type { ListedLobby, LobbyEventView, LobbyView } from './view.js'

/** A member of a lobby who asks for something. */
export interface ByMember {
  readonly lobbyId: string
  readonly playerId: string
}

export type Joined =
  { readonly status: 'joined'; readonly lobby: LobbyView } | { readonly status: 'waiting'; readonly lobbyId: string }

/** What a follower gets: an event, or the whole state in place of events that are no longer kept. */
export type LobbyMessage = LobbyEventView | LobbySnapshot

export interface LobbySnapshot {
  readonly type: 'snapshot'
  /** Of the last event that is in it. */
  readonly seq: number
  readonly lobby: LobbyView
}

export interface Followed {
  readonly messages: readonly LobbyMessage[]
  /** Where to go on. */
  readonly cursor: number
  /** Nothing more will come: the lobby is closed, or the player is out of it. */
  readonly over: boolean
}

export interface Follow extends ByMember {
  /** `seq` of the last event that was seen, or `cursor` of a view. Without, the first message is a snapshot. */
  readonly after?: number | undefined
  readonly signal?: AbortSignal | undefined
}

export interface LobbiesEvents extends WithProblems {
  /** Everything that happens in any lobby of which this process changes the state; for metrics and logs. */
  happened: (event: Happening & { readonly lobbyId: string; readonly at: number }) => void
}

/**
 * Groups of players who find each other by code or list, and start together. Everything that is refused
 * throws `LobbyRefused`, with a `code` that says why.
 */
export interface Lobbies {
  create(input: CreateLobby): Promise<LobbyView>
  /**
   * Comes in, comes back to one's own slot, or (where the host decides) begins to wait. Every reason why one
   * cannot come in looks the same: `not-joinable`.
   */
  join(input: JoinLobby): Promise<Joined>
  /** Public lobbies that can be joined, newest first. */
  list(input?: ListLobbies): Promise<{ readonly lobbies: readonly ListedLobby[]; readonly next: string | undefined }>
  get(by: ByMember): Promise<LobbyView>
  /** A sign of life, for members who do not follow the lobby. */
  heartbeat(by: ByMember): Promise<void>
  leave(by: ByMember): Promise<void>
  setReady(input: ByMember & { readonly ready: boolean }): Promise<LobbyView>
  /** Changes the lobby's data, by the host; with `ifVersion` only if nobody has changed it since. */
  setData(
    input: ByMember & { readonly changes: AttributeChanges; readonly ifVersion?: number | undefined },
  ): Promise<LobbyView>
  /** Changes the member's own data. */
  setMemberData(
    input: ByMember & { readonly changes: AttributeChanges; readonly ifVersion?: number | undefined },
  ): Promise<LobbyView>
  /** By the host. A banned player cannot come back, and need not be in. */
  kick(input: ByMember & { readonly targetId: string; readonly ban?: boolean | undefined }): Promise<LobbyView>
  unban(input: ByMember & { readonly targetId: string }): Promise<LobbyView>
  /** By the host. On a running relay that means a new session, of the next term. */
  transferHost(input: ByMember & { readonly targetId: string }): Promise<LobbyView>
  /** By the host, about one who waits. */
  decide(input: ByMember & { readonly applicantId: string; readonly approve: boolean }): Promise<LobbyView>
  /** By the host. Returns at once; that it is done, or has failed, is an event. */
  start(by: ByMember): Promise<LobbyView>
  /** By the host: ends the relay session, and opens the lobby for another start. */
  stop(by: ByMember): Promise<LobbyView>
  /** By the host: ends the lobby. */
  end(by: ByMember): Promise<void>
  /**
   * What has happened since `after`, as it happens, until the player is out or the lobby is closed. Is a sign of life,
   * too.
   */
  follow(input: Follow): AsyncGenerator<LobbyMessage, void, undefined>
  /** The same for one answer: returns as soon as there is something, or after `waitMs`. */
  poll(input: Follow & { readonly waitMs: number }): Promise<Followed>
  /**
   * Says what has become of players that were handed over. For whoever connects a matchmaker, not for players.
   * Saying the same again changes nothing.
   * @returns false if the lobby is gone, or does not wait for that any more.
   */
  reportMatch(report: MatchReport): Promise<boolean>
  /** Does what time brings about. Called every `tickMs`. */
  tick(): Promise<void>
  /** Deletes relay sessions that a process opened for a lobby and no lobby has. */
  reapOrphans(options?: Pick<OrphanOptions, 'graceMs'>): Promise<ReapedOrphans>
  readonly events: EventEmitter<LobbiesEvents>
  /**
   * Closes all lobbies of the store, and waits until their sessions are deleted; with `keepLobbies` it only
   * lets go of them, for the other processes that share the store. Close the relay sessions afterwards.
   * @throws {RelayNotDeleted} when that takes longer than `timeoutMs` (default 60,000).
   */
  close(options?: {
    readonly keepLobbies?: boolean | undefined
    readonly timeoutMs?: number | undefined
  }): Promise<void>
}
