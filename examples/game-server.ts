/**
 * The smallest game server: players connect by TCP, and send the join token of their assignment as their first line. A
 * match lasts 20 s. Run alone, it plays one match of players that it names itself:
 *
 *     node examples/dist/game-server.js
 *     npx -y pnpm@10.34.9 muster dev -- node examples/dist/game-server.js
 *     npx -y pnpm@10.34.9 muster verify-server -- node examples/dist/game-server.js
 */
import { createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { createGameServer, JoinRefused } from '@muster/game-server'

const MATCH_MS = 20_000
/** Milliseconds within which a player who has lost the connection may return. */
const RETURN_MS = 10_000

const server = createGameServer({ build: '1.0' })

const listener = createServer((socket) => {
  socket.on('error', () => {})
  createInterface(socket).once('line', async (token) => {
    try {
      const player = await server.admit(token)
      socket.write(`welcome ${player.id}, you play in ${player.matchId}\n`)
      socket.once('close', () => server.left(player.id, { mayReturnMs: RETURN_MS }))
    } catch (error) {
      socket.end(error instanceof JoinRefused ? `${error.code}\n` : 'error\n')
    }
  })
})
listener.listen(server.ports['game']?.internal ?? 0)

await server.serve({
  match: (match) => {
    console.log(`match ${match.id}: ${[...match.players.keys()].join(', ')}`)
    // Requests another player for each one who leaves for good.
    match.seats({ open: true })
    const timer = setTimeout(() => match.over({ ranking: [[...match.players.keys()]] }), MATCH_MS)
    match.signal.addEventListener('abort', () => clearTimeout(timer))
  },
})
process.exit()
