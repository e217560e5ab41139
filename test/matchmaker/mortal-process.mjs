// A process with a matchmaker, which faults.killed.test.ts kills, in plain JavaScript so that Node runs it directly.
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '@muster/core'
import { openStore } from '@muster/matchmaker'
// Imports the source file, because the package does not export a store for servers without tickets.
import { createMatchmakerOver } from '../../packages/matchmaker/dist/create-matchmaker.js'
import { createServerLog } from '../../packages/hosting/dist/internal.js'

const { url, path, dieAt, recover = false, stop = false, keeps = 0 } = JSON.parse(process.argv[2])
const die = () => process.kill(process.pid, 'SIGKILL')

const store = await openStore({ path })
const file = createServerLog(store)
const serverLog = {
  ...file,
  // Tickets are not stored, so the next process stops servers without players.
  resumes: false,
  close: () => store.close(),
  append: async (entries) => {
    const dies = dieAt !== undefined && entries.some(({ kind }) => kind === dieAt.kind)
    if (dies && dieAt.moment === 'before') die()
    await file.append(entries)
    if (dies) die()
  },
}
const client = createClient({ baseUrl: url, token: 'dev' })
const matchmaker = createMatchmakerOver(
  {
    deployments: client.deployments,
    queues: [{ name: 'duel', matchSize: 2, deploy: { application: 'game', version: '1' } }],
    tickMs: 20,
    listLagMs: 200,
  },
  () => serverLog,
)
matchmaker.start()
await matchmaker.ready()

if (recover || stop) {
  // True if all lost creates were found or given up, and all unneeded servers were stopped.
  const settled = () => {
    const { matches, stopsPending } = matchmaker.inspect()
    return stopsPending === 0 && matches.every(({ phase }) => phase === 'running')
  }
  await matchmaker.tick()
  while (!settled()) await sleep(20)
  const { matches } = matchmaker.inspect()
  if (recover && matches.length !== keeps) throw new Error(`${matches.length} matches go on, and ${keeps} should`)
  await matchmaker.close({ stopServers: stop })
  process.exit(0)
}
matchmaker.createTicket({
  queue: 'duel',
  players: [
    { id: 'ann', ip: '192.0.2.1' },
    { id: 'ben', ip: '192.0.2.2' },
  ],
})
matchmaker.on('serverAssigned', ({ matchId }) => void matchmaker.stopMatch(matchId))
// Keeps the process alive until it is killed.
setInterval(() => {}, 60_000)
