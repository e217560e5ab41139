import type { ListenerProblem } from '@muster/core/internal'
import type { EventEmitter } from 'eventemitter3'
import type { OrphanOptions, ReapedOrphans } from '../sessions/index.js'
import type { AttributeChanges, Happening } from './lobby.js'
import type { CreateLobby, JoinLobby, ListLobbies, MatchReport } from './lobby-options.js'
import type { ListedLobby, LobbyEventView, LobbyView } from './view.js'

/** A command of a member of a lobby. */
export interface ByMember {
  readonly lobbyId: string
  readonly playerId: string
}

export type Joined =
  | { readonly status: 'joined'; readonly lobby: LobbyView }
  | { readonly status: 'waiting'; readonly lobbyId: string }

/** A message to a follower: an event, or a snapshot that replaces events that are no longer stored. */
export type LobbyMessage = LobbyEventView | LobbySnapshot

export interface LobbySnapshot {
  readonly type: 'snapshot'
  /** `seq` of the last event that the snapshot includes. */
  readonly seq: number
  readonly lobby: LobbyView
}

export interface Followed {
  readonly messages: readonly LobbyMessage[]
  /** The value of `after` to continue with. */
  readonly cursor: number
  /** True if no more messages will come: the lobby is closed, or the player is no longer in it. */
  readonly over: boolean
}

export interface Follow extends ByMember {
  /** `seq` of the last event seen, or `cursor` of a view. Without it, the first message is a snapshot. */
  readonly after?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** A listener failed, or a tick or the pending work of a lobby, which the next tick repeats. */
export type LobbiesProblem = ListenerProblem | { readonly during: 'tick' | 'work'; readonly error: unknown }

export interface LobbiesEvents {
  /** Without a listener, problems are process warnings. */
  problem: (problem: LobbiesProblem) => void
  /** An event of any lobby that this process changes; for metrics and logs. */
  happened: (event: Happening & { readonly lobbyId: string; readonly at: number }) => void
}

/**
 * Groups of players who find each other by code or list, and start together. A refused command throws `LobbyRefused`,
 * with the reason as its `code`.
 */
export interface Lobbies {
  create(input: CreateLobby): Promise<LobbyView>
  /**
   * Joins a lobby, returns to the player's own slot, or (if the host decides) starts to wait. Every refusal is the
   * same, `not-joinable`, so that it does not reveal which codes exist.
   */
  join(input: JoinLobby): Promise<Joined>
  /** Lists public lobbies that are open or allow late joins, the newest first. Full ones only with `minFree: 0`. */
  list(input?: ListLobbies): Promise<{ readonly lobbies: readonly ListedLobby[]; readonly next: string | undefined }>
  get(by: ByMember): Promise<LobbyView>
  /** Returns the player's view of each lobby in which they are a member, present or away: at most 16. */
  ofPlayer(playerId: string): Promise<readonly LobbyView[]>
  /** Keeps alive a member who does not follow the lobby. */
  heartbeat(by: ByMember): Promise<void>
  leave(by: ByMember): Promise<void>
  setReady(input: ByMember & { readonly ready: boolean }): Promise<LobbyView>
  /** Host only: changes the lobby's data. With `ifVersion`, only if the data has not changed since that version. */
  setData(
    input: ByMember & { readonly changes: AttributeChanges; readonly ifVersion?: number | undefined },
  ): Promise<LobbyView>
  /** Changes the member's own data. */
  setMemberData(
    input: ByMember & { readonly changes: AttributeChanges; readonly ifVersion?: number | undefined },
  ): Promise<LobbyView>
  /** Host only: removes a player. A banned player cannot come back, and need not be a member to be banned. */
  kick(input: ByMember & { readonly targetId: string; readonly ban?: boolean | undefined }): Promise<LobbyView>
  unban(input: ByMember & { readonly targetId: string }): Promise<LobbyView>
  /** Host only: makes another member the host. A running relay gets a new session. */
  transferHost(input: ByMember & { readonly targetId: string }): Promise<LobbyView>
  /** Host only: admits or denies an applicant. An applicant who is in too many lobbies by now is not admitted. */
  decide(input: ByMember & { readonly applicantId: string; readonly approve: boolean }): Promise<LobbyView>
  /** Host only: starts the lobby. Returns immediately; an event reports whether the start succeeded. */
  start(by: ByMember): Promise<LobbyView>
  /** Host only: ends the relay session, and opens the lobby for another start. */
  stop(by: ByMember): Promise<LobbyView>
  /** Host only: ends the lobby. */
  end(by: ByMember): Promise<void>
  /**
   * Yields the events after `after`, as they happen, until the player is out or the lobby is closed. Following also
   * keeps the player alive.
   */
  follow(input: Follow): AsyncGenerator<LobbyMessage, void, undefined>
  /** Returns messages like `follow`, once: as soon as there are any, or after `waitMs`. */
  poll(input: Follow & { readonly waitMs: number }): Promise<Followed>
  /**
   * Reports the match of handed-over players. For code that connects a matchmaker, not for players. Repeating a report
   * changes nothing.
   * @returns false if the lobby is gone, or no longer waits for the match
   */
  reportMatch(report: MatchReport): Promise<boolean>
  /**
   * Returns the keys of all starts of the store whose players were handed over, or have a match. A process that
   * connects a matchmaker reports them anew if an earlier process may have ended before it reported a change. A lobby
   * whose record is damaged is left out, as a `problem`.
   * @throws {StoreUnavailable} if the store does not answer
   */
  matchKeys(): Promise<readonly string[]>
  /** Applies everything that is due. Called every `tickMs`. */
  tick(): Promise<void>
  /** Deletes relay sessions that were opened for a lobby and do not belong to one any more. */
  reapOrphans(options?: Pick<OrphanOptions, 'graceMs'>): Promise<ReapedOrphans>
  readonly events: EventEmitter<LobbiesEvents>
  /**
   * Closes all lobbies of the store, and waits until their sessions are deleted. With `keepLobbies`, this process only
   * releases them for the other processes that share the store. Close the relay sessions afterwards.
   * @throws {RelayNotDeleted} if that takes longer than `timeoutMs` (default 60,000)
   */
  close(options?: {
    readonly keepLobbies?: boolean | undefined
    readonly timeoutMs?: number | undefined
  }): Promise<void>
}
