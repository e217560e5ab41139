import { seededRandom, systemClock as clock } from '@muster/core/clock'
import type { DemoOptions } from '../options.js'
import { loadPlayers } from '../players.js'
import { openArcade } from './arcade.js'
import { createBoard, type Moves, type Table } from './board.js'
import { openDirectPair } from './direct.js'
import { createLatencies, type Spread } from './latencies.js'
import { playLobby } from './lobby.js'
import { startPump } from './pump.js'
import type { RelayResult } from './result.js'
import { drawScripts, SLOTS } from './script.js'
import type { Stage } from './stage.js'
import { createTally } from './tally.js'

/** Number of packets per second of each client. */
const PACKETS_PER_SECOND = 30
/** Maximum number of packets per second of all clients together. Beyond it, each client sends less. */
const MOST_PACKETS_PER_SECOND = 5000
/** One packet in this number is also sent directly, without the relay. */
const DIRECT_EVERY = 20
const SHOW_EVERY_MS = 200
/**
 * Maximum milliseconds for which the demo waits for lobbies. A lobby that has not ended by then counts as unfinished,
 * which the result shows.
 */
const LONGEST_MS = 60_000

/** The state of the demo while it runs. */
export interface RelayProgress {
  readonly lobbies: number
  readonly tables: readonly Table[]
  readonly moves: Moves
  /** Returns true if the player's packets are relayed. */
  readonly isLinked: (playerId: string) => boolean
  readonly packetsRelayed: number
  /** Recent times from clients to hosts. */
  readonly latency: Spread
  readonly sessions: { readonly open: number; readonly opened: number }
  readonly phase: 'playing' | 'closing' | 'done'
}

/**
 * Runs the demo from start to end: a service, lobbies, and players who exchange packets while their lobbies change.
 * @param interrupted ends the demo early.
 */
export async function runRelayDemo(
  options: DemoOptions,
  show: (progress: RelayProgress) => void,
  interrupted: AbortSignal,
): Promise<RelayResult> {
  const { seed, lobbies: count } = options
  const startedAt = clock.now()
  const places = new Map(loadPlayers().map((player) => [player.ip, player]))
  const scripts = drawScripts(count, [...places.keys()], seededRandom(seed))
  const arcade = await openArcade(options, places)

  const [toHost, direct] = [createLatencies(), createLatencies()]
  const pair = await openDirectPair(direct)
  const stage: Stage = {
    clock,
    lobbies: arcade.lobbies,
    board: createBoard(SLOTS),
    pump: startPump({
      clock,
      perSecond: PACKETS_PER_SECOND,
      mostPerSecond: MOST_PACKETS_PER_SECOND,
      every: DIRECT_EVERY,
      also: pair.send,
    }),
    latencies: toHost,
    tally: createTally(),
    members: new Map(),
  }
  const { board, members, tally } = stage
  arcade.lobbies.events.on('happened', board.happened)

  let phase: RelayProgress['phase'] = 'playing'
  const report = () =>
    show({
      lobbies: count,
      tables: board.tables,
      moves: board.moves,
      isLinked: (playerId) => members.get(playerId)?.isLinked() === true,
      packetsRelayed: arcade.packetsRelayed(),
      latency: toHost.recent(),
      sessions: arcade.sessions(),
      phase,
    })
  const over = new AbortController()
  const showing = keepShowing(report, over.signal)

  const problems = new Set<string>()
  const complain = (error: unknown) => void problems.add(String(error))
  let finished = 0
  const playing = scripts.map((script) => playLobby(stage, script).then(() => void (finished += 1), complain))
  const longEnough = clock.sleep(LONGEST_MS, AbortSignal.any([over.signal, interrupted])).catch(() => {})
  await Promise.race([Promise.all(playing), longEnough])
  const unfinished = count - finished
  const interruptedWith = interrupted.aborted ? arcade.sessions().open : undefined

  phase = 'closing'
  stage.pump.stop()
  pair.close()
  const sessionsLeft = await arcade.endSessions()
  phase = 'done'
  over.abort()
  await showing
  report()
  await arcade.close()

  const [through, without] = [toHost.all(), direct.all()]
  const { packets, refused, notRefused, stuck } = tally.now
  return {
    lobbies: count,
    players: scripts.flatMap(({ gathering, later }) => [...gathering, ...later]).filter(({ id }) => board.hasSeen(id))
      .length,
    moves: board.moves,
    packets: { sent: packets.sent, relayed: arcade.packetsRelayed(), cutOff: packets.cutOff, lost: packets.lost },
    latency: {
      relayed: through,
      direct: without,
      added: { p50: through.p50 - without.p50, p99: through.p99 - without.p99 },
    },
    kicked: { refused, notRefused },
    stuck: stuck.length,
    unfinished,
    problems: [...stuck, ...problems],
    interruptedWith,
    faults: arcade.faults(),
    sessionsOpened: arcade.sessions().opened,
    sessionsLeft,
    seconds: Math.round((clock.now() - startedAt) / 100) / 10,
    seed,
  }
}

async function keepShowing(report: () => void, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    report()
    await clock.sleep(SHOW_EVERY_MS, signal).catch(() => {}) // it is over
  }
}
