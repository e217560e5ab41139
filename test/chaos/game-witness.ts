/** Hears of game servers who is on them, and holds it against what Muster promises. Players come to them by it too. */
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { systemClock } from '@muster/core/clock'

/** Milliseconds by which a server may let a player's time to return end earlier than the witness counts. */
const AWAY_TOLERANCE_MS = 500

/** Lines that are shown of a game server with which something is wrong. */
const LOGGED = 40

/** A line of a game server: game-server-process.mjs. */
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

/** A process of a game server. */
export interface GameProcess {
  readonly pid: number
  readonly requestId: string
  /** Its id, for which tokens are made. */
  readonly server: string
  /** Players who fit into a match, or into what it lists. */
  readonly seats: number
  /** The players of each match who are on it, with the epoch milliseconds until which those who are away may return. */
  readonly inside: Map<string, Map<string, number>>
  /** What it told. */
  readonly log: string[]
  /** Resolves with the match to which the player was admitted; undefined: refused, or the process has ended. */
  join(join: string, withinMs?: number): Promise<string | undefined>
  leave(player: string, mayReturnMs: number): void
}

export async function openWitness() {
  const living = new Set<GameProcess>()
  const wrong: string[] = []
  /**
   * Deployments in which a second process was started. The first one loses its matches and players to it, and hears of
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
   * The server has let a player go. A player who was sent away for a join that came too late, and has joined again
   * before the server heard of it, is gone too.
   */
  const left = (here: GameProcess, player: string) => {
    sum.left += 1
    for (const players of here.inside.values()) if (players.get(player) === Infinity) players.set(player, 0)
  }
  /** A match that is taken away while people play it. */
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
          // A silent server does not say so.
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
    /** Whether a match that was on the process is over. */
    isOver: (match: string, one: GameProcess) => over.has(match) && !doubled.has(one.requestId),
    sum,
    presentOn: (one: GameProcess) =>
      [...one.inside.values()].reduce((all, players) => all + presentIn(players).length, 0),
    /** Whoever is on a server leaves for good. */
    sendHome: () => {
      for (const one of living)
        for (const players of one.inside.values()) for (const id of players.keys()) one.leave(id, 0)
    },
    /** Ends it, and the processes that a failed test leaves. */
    close: () => {
      for (const { pid } of living) process.kill(pid, 'SIGKILL')
      server.close()
    },
  }
}
