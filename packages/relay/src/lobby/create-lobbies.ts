import { createMemoryLimitStore } from '@muster/core/http'
import {
  longPoll,
  prefixed,
  createEventsWithProblems,
  createTicker,
  linkedSignal,
  manyWaitOn,
} from '@muster/core/internal'
import { LobbyRefused, RelayClosed } from '../errors.js'
import { unguessable } from '../random-text.js'
import type { ReapedOrphans } from '../sessions/index.js'
import { checkFollow, checkRequest, type Command, type MemberRequest } from './command.js'
import { createCosts, createDigests, createJoining, newCode } from './join-lobby.js'
import { closeAll, createKeeper, createOwnership } from './keeper.js'
import type { Follow, Followed, Lobbies, LobbiesEvents, LobbyMessage } from './lobbies.js'
import {
  checkCreate,
  checkJoin,
  checkList,
  configure,
  type LobbiesConfig,
  type LobbiesOptions,
} from './lobby-options.js'
import { type Entry, eventsAfter, type Lobby, type LobbyEvent, memberOf, newLobby } from './lobby.js'
import { createReportMatch, runnerOf } from './runner.js'
import { dueAt, isOver, isRefusal, step } from './step.js'
import { eventView, listedOf, type LobbyView, viewOf } from './view.js'

/** Attempts after which a change gives up, because other changes of the same lobby were stored first each time. */
const MOST_TRIES = 200

/**
 * Applies a command to the stored lobby in one atomic step; starts again if the lobby was changed meanwhile.
 * @param changed called after every change that was stored.
 * @throws {LobbyRefused}
 */
function createChange(
  { store, clock, rules }: Pick<LobbiesConfig, 'store' | 'clock' | 'rules'>,
  changed: (lobby: Lobby, events: readonly LobbyEvent[], command: Command) => void,
) {
  return async (lobbyId: string, command: Command): Promise<Lobby> => {
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const stored = await store.get(lobbyId)
      if (stored === undefined) throw new LobbyRefused(command.kind === 'join' ? 'not-joinable' : 'no-such-lobby')
      const now = clock.now()
      const result = step(command, stored.lobby, now, rules)
      if (isRefusal(result)) throw new LobbyRefused(result.refused)
      const { lobby, events, onlySeen } = result
      if (lobby === stored.lobby) return lobby
      const due = dueAt(lobby, now, rules)
      const isStored =
        onlySeen === undefined
          ? store.replace(lobby, stored.version, due)
          : store.noteSeen(lobby, stored.version, onlySeen, due)
      if (await isStored) {
        changed(lobby, events, command)
        return lobby
      }
    }
    throw new LobbyRefused('busy')
  }
}

/**
 * Waits for news of a lobby for one player, and keeps the player alive meanwhile.
 * @param heartbeat notes that the player is alive; never rejects.
 */
function createFollowing(
  { store, clock, rules }: Pick<LobbiesConfig, 'store' | 'clock' | 'rules'>,
  heartbeat: (by: Follow) => Promise<void>,
) {
  const beatMs = rules.awayAfterMs / 3
  return async (input: Follow, waitMs: number): Promise<Followed> => {
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
}

/**
 * The news for a player who has seen everything up to `after`. Pure.
 * @throws {LobbyRefused} for a player who was never in the lobby, as far as is still known
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
  // A player who was just admitted has seen none of the earlier events.
  const letIn = events.some((event) => event.type === 'applicant.decided' && event.approved)
  return { messages: letIn ? [...events, ...snapshot()] : events, cursor: lobby.seq, over: !isIn }
}

/** Most lobbies handled in one tick; the others follow in the next. */
const MOST_PER_TICK = 10_000
/** Lobbies handled before the event loop is yielded. */
const BATCH = 20
/** Attempts to draw a free code: among 20^8 codes, two that are taken in a row practically never occur. */
const MOST_DRAWS = 10

/** Most lobbies that are read for a player, who may be in any number of them if `lobbiesPerPlayer` is null. */
const MOST_OF_PLAYER = 16

const NOTHING_REAPED: ReapedOrphans = { deleted: [], left: [] }

/** Creates lobbies, which end in a relay session or in a match. */
export function createLobbies(options: LobbiesOptions): Lobbies {
  const config = configure(options)
  const { relay, matchmaker, store, rules, clock, randomInt, tickMs, reapMs } = config
  const closing = manyWaitOn()
  const events = createEventsWithProblems<LobbiesEvents>()
  const limitStore = prefixed(options.limitStore ?? createMemoryLimitStore(clock), 'lobbies')
  const costs = createCosts(config, limitStore)
  const runner = runnerOf(relay, matchmaker)

  const read = async (lobbyId: string) => (await store.get(lobbyId))?.lobby
  const changed = (lobby: Lobby, happened: readonly LobbyEvent[], command: Command) => {
    costs.happened(command, happened)
    keeper.tend(lobby)
    if (events.emitter.listenerCount('happened') === 0) return
    for (const { to: _, seq: _seq, ...event } of happened) events.emit('happened', { ...event, lobbyId: lobby.id })
  }
  const change = createChange(config, changed)
  const digestOf = createDigests()
  const join = createJoining(config, limitStore, digestOf, change, costs)
  const keeper = createKeeper({ runner, clock, rules, worker: unguessable(randomInt), read, change })

  const tick = async () => {
    const now = clock.now()
    const due = await store.due(now, MOST_PER_TICK)
    for (let index = 0; index < due.length; index += BATCH) {
      if (index > 0) await new Promise((resolve) => setImmediate(resolve))
      await Promise.all(due.slice(index, index + BATCH).map((lobbyId) => tickOne(lobbyId, now)))
    }
  }
  const tickOne = async (lobbyId: string, now: number) => {
    const stored = await store.get(lobbyId)
    if (stored === undefined) return
    if (isOver(stored.lobby, now, rules)) await store.delete(lobbyId, stored.version)
    else keeper.tend(await change(lobbyId, { kind: 'tick' }))
  }
  const isOwned = createOwnership(store)
  const reapOrphans: Lobbies['reapOrphans'] = async ({ graceMs } = {}) =>
    (await relay?.reapOrphans({ graceMs, isOwned })) ?? NOTHING_REAPED

  const isNeeded = () => !closing.signal.aborted
  const tickers = [createTicker({ clock, everyMs: tickMs, tick, isNeeded })]
  if (relay !== undefined && reapMs !== null) {
    const look = async () => void (await reapOrphans().catch(() => {})) // the next look finds them again
    tickers.push(createTicker({ clock, everyMs: reapMs, tick: look, isNeeded }))
  }
  for (const ticker of tickers) ticker.wake()

  const waitForNews = createFollowing(config, async ({ lobbyId, playerId }) => {
    // the read that follows tells whether the player is a member
    await change(lobbyId, { kind: 'heartbeat', playerId }).catch(() => {})
  })

  const entryOf = async (password: string | undefined, approval: boolean): Promise<Entry> => {
    if (password === undefined) return { kind: approval ? 'approval' : 'open' }
    const salt = unguessable(randomInt)
    return { kind: 'password', salt, digest: await digestOf(password, salt) }
  }

  const tell = async (lobbyId: string, command: MemberRequest): Promise<Lobby> => {
    closing.signal.throwIfAborted()
    const checked = checkRequest(command)
    const admitted = costs.admit(checked)
    if (admitted instanceof Promise) await admitted
    return change(lobbyId, checked)
  }
  /** A view copies the whole lobby, so it is made only for those who get it. */
  const ask = async (lobbyId: string, command: MemberRequest): Promise<LobbyView> =>
    viewOf(await tell(lobbyId, command), command.playerId)
  let closed: Promise<void> | undefined

  return {
    events: events.emitter,
    create: async (input) => {
      closing.signal.throwIfAborted()
      const { player, password, approval, memberData, ...given } = checkCreate(input)
      return costs.create(player, async () => {
        const host = { ...player, data: memberData }
        const fixed = { ...given, entry: await entryOf(password, approval), outcome: runner.outcome, host }
        for (let draws = 0; draws < MOST_DRAWS; draws += 1) {
          const now = clock.now()
          const lobby = newLobby(
            { ...fixed, id: unguessable(randomInt), code: newCode(randomInt, given.visibility) },
            now,
          )
          if (await store.create(lobby, dueAt(lobby, now, rules))) return viewOf(lobby, player.id)
        }
        throw new LobbyRefused('busy')
      })
    },
    join: async (input) => {
      closing.signal.throwIfAborted()
      const checked = checkJoin(input)
      const lobby = await join(checked)
      const { id } = checked.player
      if (memberOf(lobby, id) === undefined) return { status: 'waiting', lobbyId: lobby.id }
      return { status: 'joined', lobby: viewOf(lobby, id) }
    },
    list: async (input = {}) => {
      closing.signal.throwIfAborted()
      const { lobbies, next } = await store.listPublic({ after: undefined, ...checkList(input) })
      return { lobbies: lobbies.map(listedOf), next }
    },
    get: async ({ lobbyId, playerId }) => {
      closing.signal.throwIfAborted()
      const lobby = await read(lobbyId)
      if (lobby === undefined || memberOf(lobby, playerId) === undefined) throw new LobbyRefused('no-such-lobby')
      return viewOf(lobby, playerId)
    },
    ofPlayer: async (playerId) => {
      closing.signal.throwIfAborted()
      const ids = await store.idsOf(playerId)
      const lobbies = await Promise.all(ids.slice(0, MOST_OF_PLAYER).map(read))
      return lobbies.flatMap((lobby) =>
        lobby === undefined || lobby.phase === 'closed' || memberOf(lobby, playerId) === undefined
          ? []
          : viewOf(lobby, playerId),
      )
    },
    heartbeat: async ({ lobbyId, playerId }) => void (await tell(lobbyId, { kind: 'heartbeat', playerId })),
    leave: async ({ lobbyId, playerId }) => void (await tell(lobbyId, { kind: 'leave', playerId })),
    setReady: ({ lobbyId, playerId, ready }) => ask(lobbyId, { kind: 'setReady', playerId, ready }),
    setData: ({ lobbyId, ...command }) => ask(lobbyId, { ...command, kind: 'setData' }),
    setMemberData: ({ lobbyId, ...command }) => ask(lobbyId, { ...command, kind: 'setMemberData' }),
    kick: ({ lobbyId, playerId, targetId, ban = false }) => ask(lobbyId, { kind: 'kick', playerId, targetId, ban }),
    unban: ({ lobbyId, playerId, targetId }) => ask(lobbyId, { kind: 'unban', playerId, targetId }),
    transferHost: ({ lobbyId, playerId, targetId }) => ask(lobbyId, { kind: 'transferHost', playerId, targetId }),
    decide: ({ lobbyId, ...command }) => ask(lobbyId, { ...command, kind: 'decide' }),
    start: ({ lobbyId, playerId }) => ask(lobbyId, { kind: 'start', playerId }),
    stop: ({ lobbyId, playerId }) => ask(lobbyId, { kind: 'stop', playerId }),
    end: async ({ lobbyId, playerId }) => void (await tell(lobbyId, { kind: 'close', playerId })),
    follow: async function* ({ signal, ...input }) {
      checkFollow(input)
      const linked = linkedSignal(signal, closing.signal)
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
      const linked = linkedSignal(signal, closing.signal)
      try {
        return await waitForNews({ ...input, signal: linked.signal }, waitMs)
      } finally {
        linked.unlink()
      }
    },
    reportMatch: createReportMatch(change),
    tick,
    reapOrphans,
    close: ({ keepLobbies = false, timeoutMs = 60_000 } = {}) =>
      (closed ??= (async () => {
        closing.abort(new RelayClosed('The lobbies are closed.'))
        await Promise.all([...tickers.map((ticker) => ticker.stop()), keeper.close()])
        if (!keepLobbies) await closeAll(store, { runner, change, clock }, timeoutMs)
      })()),
  }
}
