// A process with a stored ticket log, which outlived.killed.test.ts ends, in plain JavaScript so that Node runs it
// directly.
import { setImmediate as turn } from 'node:timers/promises'
import { createClient } from '@muster/core'
import { createMatchmaker, openStore } from '@muster/matchmaker'

const { url, folder, queue, joins, closeWithinMs } = JSON.parse(process.argv[2])
const store = await openStore({ path: `${folder}/muster.log`, compactAtBytes: 200_000 })
const client = createClient({ baseUrl: url, token: 'dev' })
const deploy = { application: 'game', version: '1' }
const matchmaker = createMatchmaker({
  deployments: client.deployments,
  queues: [
    { name: 'duel', matchSize: 2, deploy },
    { name: 'crowd', matchSize: 500, rules: [{ kind: 'distance', maxKm: 1 }], deploy },
  ],
  store,
  tickMs: 50,
  listLagMs: 200,
})
const tell = (message) => process.send(message)
matchmaker.on('problem', ({ during, error }) => tell({ problem: `${during}: ${error}` }))
matchmaker.on('serverAssigned', ({ matchId, tickets }) => tell({ assigned: tickets.map(({ id }) => id), matchId }))
process.once('SIGTERM', async () => {
  const begun = performance.now()
  const left = await matchmaker.close({ timeoutMs: closeWithinMs })
  await client.close()
  process.send({ closedMs: performance.now() - begun, left: left.length }, () => process.exit(0))
})
await matchmaker.ready()
const { tickets } = matchmaker.exportTickets()
tell({ waiting: tickets.map(({ id, createdAt }) => ({ id, createdAt })) })
matchmaker.start()

// Each message is sent after the command was answered.
for (let nth = 0; nth < joins; nth += 1) {
  const player = { id: `p${nth}`, coordinates: { latitude: (nth % 170) - 85, longitude: (nth % 350) - 175 } }
  const { id, createdAt } = matchmaker.createTicket({ queue, players: [player] })
  const cancelled = nth % 10 === 9 ? matchmaker.cancelTicket(id).id : undefined
  tell({ created: { id, createdAt }, cancelled })
  if (nth % 50 === 0) await turn()
}
// Keeps the process alive until it is ended.
setInterval(() => {}, 60_000)
