import { LobbyRefused, RelayClosed } from '../errors.js'
import { createMemoryLimitStore, prefixed } from '@muster/core/http'
import { createEventsWithProblems, createTicker, linkedSignal, manyWaitOn } from '@muster/core/runtime'
import { unguessable } from '../random-text.js'
import type { ReapedOrphans } from '../sessions/orphans.js'
import { checkRequest, checkFollow, type MemberRequest } from './command-schemas.js'
import { createChange } from './changes.js'
import { newCode } from './code.js'
import type { Command } from './command.js'
import { createCosts } from './costs.js'
import type { LobbyEvent } from './event.js'
import { dueAt, isOver } from './expiry.js'
import { createFollowing } from './following.js'
import { createJoining } from './joining.js'
import { createKeeper } from './keeper.js'
import type { Lobbies, LobbiesEvents } from './lobbies.js'
import { memberOf, type Entry, type Lobby } from './lobby.js'
import { createReportMatch } from './match-reports.js'
import { newLobby } from './new-lobby.js'
import { checkCreate, checkJoin, checkList, configure, type LobbiesOptions } from './options.js'
import { createOwnership } from './ownership.js'
import { createDigests } from './password.js'
import { runnerOf } from './runner.js'
import { closeAll } from './shut-down.js'
import { listedOf, viewOf, type LobbyView } from './view.js'

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
  const { relay, matchmaker, store, rules, limits, clock, randomInt, tickMs, reapMs } = configure(options)
  const closing = manyWaitOn()
  const events = createEventsWithProblems<LobbiesEvents>()
  const limitStore = prefixed(options.limitStore ?? createMemoryLimitStore(clock), 'lobbies')
  const costs = createCosts(limits, store, limitStore)
  const runner = runnerOf(relay, matchmaker)

  const read = async (lobbyId: string) => (await store.get(lobbyId))?.lobby
  const changed = (lobby: Lobby, happened: readonly LobbyEvent[], command: Command) => {
    costs.happened(command, happened)
    keeper.tend(lobby)
    if (events.emitter.listenerCount('happened') === 0) return
    for (const { to: _, seq: _seq, ...event } of happened) events.emit('happened', { ...event, lobbyId: lobby.id })
  }
  const change = createChange({ store, clock, rules, changed })
  const digestOf = createDigests()
  const join = createJoining({ store, limits, limitStore, digestOf, change, enter: costs.enter })
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

  const waitForNews = createFollowing({
    store,
    clock,
    beatMs: rules.awayAfterMs / 3,
    heartbeat: async ({ lobbyId, playerId }) => {
      // the read that follows tells whether the player is a member
      await change(lobbyId, { kind: 'heartbeat', playerId }).catch(() => {})
    },
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
    setData: ({ lobbyId, playerId, changes, ifVersion }) =>
      ask(lobbyId, { kind: 'setData', playerId, changes, ifVersion }),
    setMemberData: ({ lobbyId, playerId, changes, ifVersion }) =>
      ask(lobbyId, { kind: 'setMemberData', playerId, changes, ifVersion }),
    kick: ({ lobbyId, playerId, targetId, ban = false }) => ask(lobbyId, { kind: 'kick', playerId, targetId, ban }),
    unban: ({ lobbyId, playerId, targetId }) => ask(lobbyId, { kind: 'unban', playerId, targetId }),
    transferHost: ({ lobbyId, playerId, targetId }) => ask(lobbyId, { kind: 'transferHost', playerId, targetId }),
    decide: ({ lobbyId, playerId, applicantId, approve }) =>
      ask(lobbyId, { kind: 'decide', playerId, applicantId, approve }),
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
        closing.abort(new RelayClosed('the lobbies are closed'))
        await Promise.all([...tickers.map((ticker) => ticker.stop()), keeper.close()])
        if (!keepLobbies) await closeAll({ store, runner, change, clock, timeoutMs })
      })()),
  }
}
