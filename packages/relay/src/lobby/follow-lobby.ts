import { linkedSignal, longPoll } from '@muster/core/internal'
import { LobbyRefused } from '../errors.js'
import { checkFollow } from './command.js'
import type { Follow, Followed, Lobbies, LobbyMessage } from './lobbies.js'
import type { LobbiesConfig } from './lobby-options.js'
import { eventsAfter, type Lobby, memberOf } from './lobby.js'
import { eventView, viewOf } from './view.js'

/**
 * Waits for news of a lobby for one player, and keeps the player alive meanwhile.
 * @param closing ends all waits
 * @param heartbeat records that the player is alive; never rejects.
 */
export function createFollowing(
  { store, clock, rules }: Pick<LobbiesConfig, 'store' | 'clock' | 'rules'>,
  closing: AbortSignal,
  heartbeat: (by: Follow) => Promise<void>,
): Pick<Lobbies, 'follow' | 'poll'> {
  const beatMs = rules.awayAfterMs / 3
  const waitForNews = async (input: Follow, waitMs: number): Promise<Followed> => {
    const { lobbyId, playerId, signal } = input
    const end = clock.now() + waitMs
    let cursor = input.after
    const read = async (): Promise<Followed | undefined> => {
      const lobby = (await store.get(lobbyId))?.lobby
      if (lobby === undefined) throw new LobbyRefused('no-such-lobby')
      const news = newsFor(lobby, playerId, cursor)
      cursor = news.cursor
      return news.messages.length > 0 || news.over ? news : undefined
    }
    for (;;) {
      await heartbeat(input)
      const leftMs = Math.max(0, end - clock.now())
      const subscribe = (changed: () => void) => store.watch(lobbyId, changed)
      const news = await longPoll({ read, subscribe, waitMs: Math.min(beatMs, leftMs), clock, signal })
      if (news !== undefined) return news
      if (clock.now() >= end) {
        await heartbeat(input)
        return { messages: [], cursor: cursor ?? 0, over: false }
      }
    }
  }

  return {
    follow: async function* ({ signal, ...input }) {
      checkFollow(input)
      const linked = linkedSignal(signal, closing)
      try {
        for (let after = input.after; ;) {
          const { messages, cursor, over } = await waitForNews({ ...input, after, signal: linked.signal }, Infinity)
          yield* messages
          if (over) return
          after = cursor
        }
      } finally {
        linked.unlink()
      }
    },
    poll: async ({ waitMs, signal, ...input }) => {
      checkFollow({ ...input, waitMs })
      const linked = linkedSignal(signal, closing)
      try {
        return await waitForNews({ ...input, signal: linked.signal }, waitMs)
      } finally {
        linked.unlink()
      }
    },
  }
}

/**
 * Returns the messages for a player who has seen everything up to `after`. Pure.
 * @throws {LobbyRefused} for a player who was never in the lobby, as far as known
 */
function newsFor(lobby: Lobby, playerId: string, after: number | undefined): Followed {
  const isMember = memberOf(lobby, playerId) !== undefined
  const waits = lobby.applicants.some(({ id, denied }) => id === playerId && !denied)
  const isIn = (isMember || waits) && lobby.phase !== 'closed'
  const snapshot = (): LobbyMessage[] =>
    isMember ? [{ type: 'snapshot', seq: lobby.seq, lobby: viewOf(lobby, playerId) }] : []
  const missed = after === undefined ? undefined : eventsAfter(lobby, after)
  if (missed === undefined) {
    if (!isMember && !waits) throw new LobbyRefused('no-such-lobby')
    return { messages: snapshot(), cursor: lobby.seq, over: !isIn }
  }
  const events = missed.map((event) => eventView(lobby, event, playerId)).filter((event) => event !== undefined)
  if (events.length === 0 && !isMember && !waits) throw new LobbyRefused('no-such-lobby')
  // A player who was just admitted has not seen the earlier events.
  const letIn = events.some((event) => event.type === 'applicant.decided' && event.approved)
  return { messages: letIn ? [...events, ...snapshot()] : events, cursor: lobby.seq, over: !isIn }
}
