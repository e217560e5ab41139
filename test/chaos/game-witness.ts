/**
 * Records what game servers tell about their players, and compares it with what Muster promises. Players also connect
 * through it.
 */
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { systemClock } from '@muster/core/clock'

/** Milliseconds by which a server may end a player's time to return earlier than the witness expects. */
const AWAY_TOLERANCE_MS = 500

/** Number of log lines that are printed for a faulty game server. */
const LOGGED = 40

/** A message of a game server; see game-server-process.mjs. */
interface Line {
  readonly kind:
    | 'hello'
    | 'begins'
    | 'admitted'
    | 'refused'
    | 'left'
    | 'over'
    | 'ended'
    | 'draining'
    | 'stop'
    | 'problem'
  readonly pid: number
  readonly requestId: string
  readonly server: string
  readonly seats: number
  readonly nth: number
  readonly match: string
  readonly player: string
  readonly reason: string
  readonly message: string
  readonly code: string
}

/** A game server's process. */
export interface GameProcess {
  readonly pid: number
  readonly requestId: string
  /** Id of the server, for which join tokens are made. */
  readonly server: string
  /** Number of players in a match or in the listed session. */
  readonly seats: number
  /**
   * By match: the players on it, each with the epoch milliseconds until which they may return. Infinity for connected
   * players.
   */
  readonly inside: Map<string, Map<string, number>>
  /** Messages that the process has sent. */
  readonly log: string[]
  /**
   * Resolves with the match that admitted the player; undefined if the server refused the player or its process has
   * ended.
   */
  join(join: string, withinMs?: number): Promise<string | undefined>
  leave(player: string, mayReturnMs: number): void
}

export async function openWitness() {
  const living = new Set<GameProcess>()
  const wrong: string[] = []
  /**
   * Deployments with a second process. The first process loses its matches and players to the second one, and learns
   * that some time later.
   */
  const doubled = new Set<string>()
  const over = new Set<string>()
  const sum = { processes: 0, admitted: 0, refused: 0, over: 0, left: 0 }
  const isThere = (until: number) => systemClock.now() < until
  const presentIn = (players: ReadonlyMap<string, number>) => [...players].filter(([, until]) => isThere(until))
  const insideOf = (one: GameProcess, match: string) => {
    const players = one.inside.get(match) ?? new Map<string, number>()
    one.inside.set(match, players)
    return players
  }

  const blame = (what: string, ...processes: readonly GameProcess[]) => {
    wrong.push(what)
    for (const { requestId, pid, log } of processes)
      wrong.push(`  ${requestId} ${pid}${doubled.has(requestId) ? ', doubled' : ''}`, ...log.slice(-LOGGED))
  }

  const admitted = (here: GameProcess, match: string, player: string) => {
    sum.admitted += 1
    for (const other of living)
      for (const [id, players] of other.inside) {
        if (!isThere(players.get(player) ?? 0) || doubled.has(other.requestId)) continue
        if (id === match && other === here) continue
        blame(`${player} is admitted to ${match} on ${here.requestId}, and is in ${id}`, here, other)
      }
    const players = insideOf(here, match)
    players.set(player, Infinity)
    const present = presentIn(players)
    if (present.length > here.seats && !doubled.has(here.requestId))
      blame(`${match} has ${present.length} players: ${present.join(' ')}`, here)
  }
  /**
   * Called when the server has let a player go. A late join may have cost the player the seat. If the player has joined
   * again before the server learned that, the player is gone too.
   */
  const left = (here: GameProcess, player: string) => {
    sum.left += 1
    for (const players of here.inside.values()) if (players.get(player) === Infinity) players.set(player, 0)
  }
  /** Called when Muster ends a match. It must not do so while people play. */
  const ended = (here: GameProcess, match: string, reason: string) => {
    const players = here.inside.get(match) ?? new Map<string, number>()
    here.inside.delete(match)
    const playing = presentIn(players)
    if (over.has(match) || playing.length === 0 || doubled.has(here.requestId)) return
    blame(`${match} was ended by us under ${playing.join(' ')}: ${reason}`, here)
  }

  const hear = (socket: Socket) => {
    let own: GameProcess | undefined
    const asked = new Map<number, (match: string | undefined) => void>()
    const answer = (nth: number, match: string | undefined) => {
      asked.get(nth)?.(match)
      asked.delete(nth)
    }
    const begin = ({ pid, requestId, server, seats }: Line): GameProcess => {
      sum.processes += 1
      let count = 0
      const inside: GameProcess['inside'] = new Map()
      return {
        pid,
        requestId,
        server,
        seats,
        inside,
        log: [],
        join: (join, withinMs = 5000) => {
          count += 1
          const nth = count
          socket.write(`${JSON.stringify({ kind: 'join', nth, join })}\n`)
          return new Promise((resolve) => {
            asked.set(nth, resolve)
            void systemClock.sleep(withinMs).then(() => answer(nth, undefined))
          })
        },
        leave: (player, mayReturnMs) => {
          // A suspended server cannot report that the player left.
          const until = mayReturnMs > 0 ? systemClock.now() + mayReturnMs - AWAY_TOLERANCE_MS : 0
          for (const players of inside.values()) if (isThere(players.get(player) ?? 0)) players.set(player, until)
          socket.write(`${JSON.stringify({ kind: 'leave', player, mayReturnMs })}\n`)
        },
      }
    }
    const take = (line: Line) => {
      if (line.kind === 'hello') living.add((own = begin(line)))
      if (own === undefined) return
      own.log.push(`${new Date(systemClock.now()).toISOString()} ${JSON.stringify(line)}`)
      const { kind, match, player } = line
      if (kind === 'admitted' && asked.has(line.nth)) admitted(own, match, player)
      else if (kind === 'admitted') own.leave(player, 0)
      if (kind === 'refused') sum.refused += 1
      if (kind === 'left') left(own, player)
      if (kind === 'admitted' || kind === 'refused') answer(line.nth, match)
      if (kind === 'over') {
        sum.over += 1
        over.add(match)
        own.inside.delete(match)
      }
      if (kind === 'ended') ended(own, match, line.reason)
    }
    createInterface({ input: socket })
      .on('line', (line) => take(JSON.parse(line) as Line))
      .on('error', () => {})
    socket.on('error', () => {})
    socket.on('close', () => {
      if (own !== undefined) living.delete(own)
      for (const nth of asked.keys()) answer(nth, undefined)
    })
  }
  const server = createServer(hear).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    living,
    wrong,
    doubled,
    /** True if a match that this process served is over. */
    isOver: (match: string, one: GameProcess) => over.has(match) && !doubled.has(one.requestId),
    sum,
    presentOn: (one: GameProcess) =>
      [...one.inside.values()].reduce((all, players) => all + presentIn(players).length, 0),
    /** Makes all players leave their servers for good. */
    sendHome: () => {
      for (const one of living)
        for (const players of one.inside.values()) for (const id of players.keys()) one.leave(id, 0)
    },
    /** Closes the witness, and ends processes that a failed test has left. */
    close: () => {
      for (const { pid } of living) process.kill(pid, 'SIGKILL')
      server.close()
    },
  }
}
