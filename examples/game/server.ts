/**
 * The game server. It decides what happens on the field. One process plays several matches, one after another and at
 * the same time. Players connect by WebSocket. Their first message is the join token of their assignment.
 */
import { performance } from 'node:perf_hooks'
import { createGameServer, JoinRefused, type Match } from '@muster/game-server'
import { type RawData, type WebSocket, WebSocketServer } from 'ws'
import { isMove, type Move, newWorld, step, winner, withPlayers } from './rules.js'

const TICKS_PER_SECOND = 30
/**
 * Milliseconds within which a player who has lost the connection may return, and for which a match waits for its first
 * player.
 */
const MAY_RETURN_MS = 15_000
const ABANDONED_MS = 30_000
const SECONDS = Number(process.env['GAME_SECONDS'] ?? 90)
/**
 * Maximum size of a client's message in bytes. A new connection is closed if it sends nothing for `SILENT_MS`
 * milliseconds.
 */
const LARGEST_BYTES = 4096
const SILENT_MS = 5000

/** The messages of clients. Any other message is dropped. */
interface Wanted {
  readonly join?: unknown
  readonly watch?: unknown
  readonly move?: unknown
  readonly leave?: unknown
}

/** A match that is played, with its spectators. */
interface Room {
  readonly move: (playerId: string, move: Move) => void
  /** Connects a player. An earlier connection of the player is closed. */
  readonly enter: (playerId: string, socket: WebSocket) => void
  readonly exit: (playerId: string, socket: WebSocket) => boolean
  readonly watch: (socket: WebSocket) => void
}

const server = createGameServer({ build: '1', matches: 8 })
const rooms = new Map<string, Room>()

function openRoom(match: Match): Room {
  const sockets = new Map<string, WebSocket>()
  const watchers = new Set<WebSocket>()
  const moves = new Map<string, Move>()
  let world = newWorld(SECONDS)
  let seenAt = performance.now()
  let isOver = false

  const players = () =>
    Object.values(match.teams).flatMap((team, nth) => team.map(({ id }) => ({ id, team: nth === 0 ? 0 : 1 }) as const))
  const tell = (message: object) => {
    const text = JSON.stringify(message)
    for (const socket of [...sockets.values(), ...watchers]) socket.send(text)
  }
  const close = () => {
    clearInterval(ticking)
    rooms.delete(match.id)
    for (const socket of [...sockets.values(), ...watchers]) socket.close(1000)
  }
  /** Ends the match. Muster then frees the players, and sends the result to the backend. */
  const end = (won: 0 | 1 | undefined) => {
    isOver = true
    const teams = Object.values(match.teams).map((team) => team.map(({ id }) => id))
    const ranking = won === 1 ? teams.toReversed() : teams
    tell({ over: { won, score: world.score } })
    const isPlayed = won !== undefined && teams.every((team) => team.length > 0)
    void match.over(isPlayed ? { ranking, data: { score: world.score } } : undefined).then(close)
  }
  const tick = () => {
    if (isOver) return
    const now = performance.now()
    if (sockets.size > 0) seenAt = now
    world = step(withPlayers(world, players()), moves, 1 / TICKS_PER_SECOND)
    tell({ world: { ...world, at: Math.round(now), here: [...sockets.keys()] } })
    const won = winner(world)
    if (won !== undefined || now - seenAt > ABANDONED_MS) end(won)
  }
  const ticking = setInterval(tick, 1000 / TICKS_PER_SECOND)
  match.signal.addEventListener('abort', close)
  // Requests another player from the queue for each one who leaves for good.
  match.seats({ open: true })

  return {
    move: (playerId, move) => void moves.set(playerId, move),
    enter: (playerId, socket) => {
      sockets.get(playerId)?.close(4000, 'elsewhere')
      sockets.set(playerId, socket)
    },
    exit: (playerId, socket) => {
      if (sockets.get(playerId) !== socket) return false
      moves.delete(playerId)
      return sockets.delete(playerId)
    },
    watch: (socket) => {
      watchers.add(socket)
      socket.once('close', () => watchers.delete(socket))
    },
  }
}

/** Handles the first message. It has the join token of a player, or names the match that a spectator watches. */
async function welcome(socket: WebSocket, { join, watch }: Wanted): Promise<void> {
  if (typeof watch === 'string' && rooms.has(watch)) return rooms.get(watch)?.watch(socket)
  const player = await server.admit(join as string)
  const room = rooms.get(player.matchId)
  if (room === undefined || socket.readyState !== socket.OPEN)
    return server.left(player.id, { mayReturnMs: MAY_RETURN_MS })
  room.enter(player.id, socket)
  socket.send(JSON.stringify({ you: player.id }))
  let mayReturnMs = MAY_RETURN_MS
  socket.on('message', (data) => {
    const { move, leave } = read(data)
    if (isMove(move)) room.move(player.id, move)
    if (leave !== true) return
    mayReturnMs = 0
    socket.close(1000)
  })
  socket.once('close', () => {
    // A player who has connected again meanwhile has not left.
    if (room.exit(player.id, socket)) server.left(player.id, { mayReturnMs })
  })
}

function read(data: RawData): Wanted {
  try {
    return Object(JSON.parse(String(data))) as Wanted
  } catch {
    return {}
  }
}

const listener = new WebSocketServer({
  port: server.ports['game']?.internal ?? 7777,
  host: process.env['GAME_HOST'],
  maxPayload: LARGEST_BYTES,
})
listener.on('connection', (socket) => {
  // An error needs no handling, because a broken connection is closed too.
  socket.on('error', () => {})
  const silent = setTimeout(() => socket.close(4001, 'silent'), SILENT_MS)
  socket.once('message', (data) => {
    clearTimeout(silent)
    welcome(socket, read(data)).catch((error: unknown) =>
      socket.close(4001, error instanceof JoinRefused ? error.code : 'failed'),
    )
  })
})

await server.serve({ match: (match) => void rooms.set(match.id, openRoom(match)) })
process.exit()
