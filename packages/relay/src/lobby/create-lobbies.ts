import { StoreUnavailable } from '@muster/core'
import { createMemoryLimitStore } from '@muster/core/http'
import {
  prefixed,
  createEventsWithProblems,
  createOwnPauses,
  createTicker,
  manyWaitOn,
  warnThat,
} from '@muster/core/internal'
import { LobbyRefused, RelayClosed } from '../errors.js'
import { unguessable } from '../random-text.js'
import type { ReapedOrphans } from '../sessions/index.js'
import { createChange } from './change-lobby.js'
import { checkRequest, type LobbyCommand, type MemberRequest } from './command.js'
import { createFollowing } from './follow-lobby.js'
import { createCosts, createDigests, createJoining, newCode } from './join-lobby.js'
import { closeAll, createKeeper, createOwnership } from './keeper.js'
import type { Lobbies, LobbiesEvents } from './lobbies.js'
import { checkCreate, checkJoin, checkList, configure, type LobbiesOptions } from './lobby-options.js'
import { type Entry, type Lobby, type LobbyEvent, memberOf, newLobby, waitingApplicants } from './lobby.js'
import { createReportMatch, matchKeyOf, runnerOf } from './runner.js'
import { dueAt, isOver } from './step.js'
import { listedOf, type LobbyView, viewOf } from './view.js'

/** Maximum number of lobbies handled in one tick. The others follow in the next. */
const MOST_PER_TICK = 10_000
/** Number of lobbies handled before yielding to the event loop. */
const BATCH = 20
/**
 * Maximum number of attempts to draw a free code: among 20^8 codes, two consecutive taken ones practically never occur.
 */
const MOST_DRAWS = 10

/**
 * Maximum number of lobbies that are read for a player, who may be in any number of them if `lobbiesPerPlayer` is null.
 */
const MOST_OF_PLAYER = 16

const NOTHING_REAPED: ReapedOrphans = { deleted: [], left: [] }

/** Creates lobbies, which become a relay session or a match. */
export function createLobbies(options: LobbiesOptions): Lobbies {
  const config = configure(options)
  const { relay, matchmaker, store, rules, clock, randomInt, tickMs, reapMs } = config
  const closing = manyWaitOn()
  const events = createEventsWithProblems<LobbiesEvents>()
  const limitStore = prefixed(options.limitStore ?? createMemoryLimitStore(clock), 'lobbies')
  const failed = (during: 'tick' | 'work') => (error: unknown) => {
    if (events.emitter.listenerCount('problem') > 0) events.emit('problem', { during, error })
    else warnThat(`the ${during} of lobbies`)(error)
  }
  const costs = createCosts(config, limitStore)
  const runner = runnerOf(relay, matchmaker, clock)

  const read = async (lobbyId: string) => (await store.get(lobbyId))?.lobby
  const changed = (lobby: Lobby, happened: readonly LobbyEvent[], command: LobbyCommand) => {
    costs.chargeRuns(command, happened)
    keeper.startWork(lobby)
    if (events.emitter.listenerCount('happened') === 0) return
    for (const { to: _, seq: _seq, ...event } of happened) events.emit('happened', { ...event, lobbyId: lobby.id })
  }
  // The lobbies of an earlier process could not receive requests until now either.
  let upSince = clock.now()
  const pauses = createOwnPauses(upSince, 2 * tickMs)
  const resume = (now: number, wasPaused: boolean) => {
    // The clock may have been ahead until the time of a shared store was known.
    upSince = wasPaused ? now : Math.min(upSince, now)
  }
  const change = createChange(
    config,
    (now) => {
      resume(now, pauses.called(now))
      return { ...rules, upSince }
    },
    changed,
  )
  const digestOf = createDigests()
  const join = createJoining(config, limitStore, digestOf, change, costs)
  const worker = unguessable(randomInt)
  const keeper = createKeeper({ runner, clock, rules, worker, read, change, failed: failed('work') })

  const tick = async () => {
    const now = clock.now()
    resume(now, pauses.ticked(now))
    const due = await store.due(now, MOST_PER_TICK)
    // A lobby that cannot be read or written, e.g. because its record is damaged, must not stop the other lobbies.
    const failures: unknown[] = []
    const tickSafely = (lobbyId: string) => tickOne(lobbyId, now).catch((error: unknown) => failures.push(error))
    for (let index = 0; index < due.length; index += BATCH) {
      if (index > 0) await new Promise((resolve) => setImmediate(resolve))
      await Promise.all(due.slice(index, index + BATCH).map(tickSafely))
    }
    if (failures.length > 0) throw failures[0]
  }
  const tickOne = async (lobbyId: string, now: number) => {
    const stored = await store.get(lobbyId)
    if (stored === undefined) return
    if (isOver(stored.lobby, now, rules)) await store.delete(lobbyId, stored.version)
    else keeper.startWork(await change(lobbyId, { kind: 'tick' }))
  }
  const isOwned = createOwnership(store)
  const reapOrphans: Lobbies['reapOrphans'] = async ({ graceMs } = {}) =>
    (await relay?.reapOrphans({ graceMs, isOwned })) ?? NOTHING_REAPED

  const isNeeded = () => !closing.signal.aborted
  const tickers = [createTicker({ clock, everyMs: tickMs, tick, isNeeded, failed: failed('tick') })]
  if (relay !== undefined && reapMs !== null) {
    const reap = async () => void (await reapOrphans().catch(() => {})) // the next tick finds them again
    tickers.push(createTicker({ clock, everyMs: reapMs, tick: reap, isNeeded }))
  }
  for (const ticker of tickers) ticker.wake()

  const following = createFollowing(config, closing.signal, async ({ lobbyId, playerId }) => {
    // The following read shows whether the player is a member.
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
  /** Runs a command and returns a view. A view copies the whole lobby, so it is created only if the caller gets it. */
  const ask = async (lobbyId: string, command: MemberRequest): Promise<LobbyView> =>
    viewOf(await tell(lobbyId, command), command.playerId)
  const decide: Lobbies['decide'] = async ({ lobbyId, ...command }) => {
    const { playerId, applicantId, approve } = command
    const decided = () => ask(lobbyId, { ...command, kind: 'decide' })
    const lobby = approve ? await read(lobbyId) : undefined
    // Only a host to whom the player has applied learns that the player is in too many lobbies.
    const isAsked = lobby?.hostId === playerId && waitingApplicants(lobby).some(({ id }) => id === applicantId)
    return isAsked ? costs.enter({ id: applicantId }, decided) : decided()
  }
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
    decide,
    start: ({ lobbyId, playerId }) => ask(lobbyId, { kind: 'start', playerId }),
    stop: ({ lobbyId, playerId }) => ask(lobbyId, { kind: 'stop', playerId }),
    end: async ({ lobbyId, playerId }) => void (await tell(lobbyId, { kind: 'close', playerId })),
    follow: following.follow,
    poll: following.poll,
    reportMatch: createReportMatch(change),
    matchKeys: async () => {
      const keys: string[] = []
      for (const lobbyId of await store.ids()) {
        const lobby = await read(lobbyId).catch((error: unknown) => {
          if (error instanceof StoreUnavailable) throw error
          // A damaged record must not hide the other lobbies.
          failed('work')(error)
          return undefined
        })
        keys.push(...matchKeyOf(lobby))
      }
      return keys
    },
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
