// A game server in its own process, in plain JavaScript so that Node runs it directly. It serves matches of two
// players. With SEATS, it lists itself with the session that a player has requested. It writes a line of JSON to the
// witness (game-witness.ts) before it reports the same to Muster. Its players connect over the same connection.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { seededRandom } from '@muster/core/clock'
import { createGameServer } from '@muster/game-server'

const { SERVICE_REQUEST_ID: requestId, MUSTER_SERVER_TOKEN: token, SEATS: seats } = process.env
const witness = connect(Number(process.argv[2]), '127.0.0.1')
witness.on('error', () => {}).on('close', () => process.exit(1))
/** The seed depends on the seed of the run and on the deployment's id, which depends on the seed too. */
const random = seededRandom(
  [...`${process.argv[3]} ${requestId}`].reduce((sum, sign) => (sum * 31 + sign.codePointAt(0)) % 2 ** 31, 7),
)
const tell = (message) => witness.write(`${JSON.stringify(message)}\n`)

/** A second process in the same container with the same token. */
let double
process.on('SIGUSR2', () => {
  double ??= spawn(process.execPath, process.argv.slice(1), { stdio: 'ignore' })
})

const server = createGameServer({ build: '1', onProblem: (error) => tell({ kind: 'problem', message: error.message }) })

/** Ids of the players in the listed session. */
const present = new Set()

createInterface({ input: witness }).on('line', async (line) => {
  const { kind, nth, join, player, mayReturnMs } = JSON.parse(line)
  if (kind === 'leave') {
    present.delete(player)
    tell({ kind: 'left', player })
    server.left(player, { mayReturnMs })
    return
  }
  try {
    const { id, matchId, team } = await server.admit(join)
    if (seats !== undefined && !present.has(id) && present.size >= Number(seats)) {
      // Muster has promised a seat twice: it keeps holds in memory, so a restarted process does not know the earlier
      // ones.
      server.left(id)
      return tell({ kind: 'refused', nth, code: 'full' })
    }
    present.add(id)
    tell({ kind: 'admitted', nth, player: id, match: matchId, team })
  } catch (error) {
    tell({ kind: 'refused', nth, code: error.code ?? String(error) })
  }
})

tell({ kind: 'hello', pid: process.pid, requestId, server: token?.split('.')[0], seats: Number(seats ?? 2) })
await server.serve({
  match: async (match) => {
    const { id, signal } = match
    tell({ kind: 'begins', match: id, players: [...match.players.keys()] })
    signal.addEventListener('abort', () => tell({ kind: 'ended', match: id, reason: signal.reason.message }))
    await sleep(random() * 300)
    if (random() < 0.05) throw new Error('the map does not load')
    match.seats({ open: true })
    void sleep(4000 + random() * 6000, undefined, { ref: false }).then(() => {
      if (signal.aborted) return
      tell({ kind: 'over', match: id })
      void match.over({ ranking: [[...match.players.keys()]] })
    })
  },
  host: ({ name }) => ({ name, seats: Number(seats) }),
  draining: (reason) => tell({ kind: 'draining', reason }),
  stop: (reason) => tell({ kind: 'stop', reason }),
})
// A container ends with its first process, so the first process waits for the second one.
if (double?.exitCode === null && double.signalCode === null) await once(double, 'exit')
process.exit()
