// The game server. Muster starts processes of it, and each plays one match after another.
import { createGameServer, JoinRefused } from '@muster/game-server'
import { WebSocketServer } from 'ws'

/** Number of taps with which a player wins. */
const GOAL = 20
/** Milliseconds after which a match ends, whatever the score. */
const MATCH_MS = 60_000
/** Milliseconds within which a player who has lost the connection may return. */
const RETURN_MS = 10_000
/** Maximum size of a client's message in bytes. */
const LARGEST_BYTES = 4096
/** Milliseconds after which a connection is closed if it has sent no token, or does not respond to pings. */
const SILENT_MS = 15_000

const server = createGameServer({ build: '1' })
/** The current match, with the taps and connections of its players. */
let game

function tell({ taps, winner, sockets }) {
  const message = JSON.stringify({ taps: Object.fromEntries(taps), goal: GOAL, winner })
  for (const socket of sockets.values()) socket.send(message)
}

function end(ended) {
  const { match, taps } = ended
  const order = [...taps.keys()].toSorted((one, other) => taps.get(other) - taps.get(one))
  ended.winner = order[0]
  tell(ended)
  match.over({ ranking: order.map((id) => [id]), data: { taps: Object.fromEntries(taps) } })
}

function tap(played, id) {
  const { match, taps, winner } = played
  if (winner !== undefined || taps.size < match.players.size) return
  taps.set(id, taps.get(id) + 1)
  if (taps.get(id) < GOAL) tell(played)
  else end(played)
}

/** Closes a connection that is silent for too long. @returns a function that restarts the time */
function endIfSilent(socket) {
  const silence = setTimeout(() => socket.terminate(), SILENT_MS)
  const pings = setInterval(() => socket.ping(), SILENT_MS / 3)
  socket.once('close', () => {
    clearTimeout(silence)
    clearInterval(pings)
  })
  return () => silence.refresh()
}

const listener = new WebSocketServer({ port: server.ports.game?.internal ?? 7777, maxPayload: LARGEST_BYTES })
listener.on('connection', (socket) => {
  socket.on('error', () => {})
  const stay = endIfSilent(socket)
  // The first message of a client is the join token of its assignment.
  socket.once('message', async (token) => {
    try {
      const { id } = await server.admit(String(token))
      socket.on('pong', stay)
      const { taps, sockets } = game
      sockets.get(id)?.close()
      sockets.set(id, socket)
      if (!taps.has(id)) taps.set(id, 0)
      socket.on('message', tap.bind(undefined, game, id))
      socket.on('close', () => {
        if (sockets.get(id) !== socket) return
        sockets.delete(id)
        server.left(id, { mayReturnMs: RETURN_MS })
      })
      tell(game)
    } catch (error) {
      socket.close(4000, error instanceof JoinRefused ? error.code : 'error')
    }
  })
})

await server.serve({
  match: (match) => {
    // Maps are used, because a player's id may be `constructor`.
    const begun = { match, taps: new Map(), winner: undefined, sockets: new Map() }
    game = begun
    const timer = setTimeout(() => end(begun), MATCH_MS)
    // Players can search again once Muster has the result.
    match.signal.addEventListener('abort', () => {
      clearTimeout(timer)
      for (const socket of begun.sockets.values()) socket.close()
    })
  },
})
process.exit()
