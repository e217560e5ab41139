// A game's backend in its own process, so that it can be killed, in plain JavaScript so that Node runs it directly.
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '@muster/core'
import { systemClock } from '@muster/core/clock'
import { createMatchmaker, openStore, Unavailable } from '@muster/matchmaker'

const { url, path, life, clockOffMs, joins } = JSON.parse(process.argv[2])
const clock = { now: () => systemClock.now() + clockOffMs, sleep: systemClock.sleep }
const client = createClient({ baseUrl: url, token: 'dev' })
const matchmaker = createMatchmaker({
  deployments: client.deployments,
  queues: [{ name: 'duel', matchSize: 2, deploy: { application: 'game', version: '1', readyTimeoutMs: 4000 } }],
  store: await openStore({ path, clock }),
  clock,
  tickMs: 25,
  listLagMs: 300,
  orphanGraceMs: 3000,
  // A limit that all processes together cannot reach.
  maxServers: 500,
})
const tell = (message) => process.send?.(message)
process.on('unhandledRejection', (error) => {
  tell({ kind: 'unhandled', error: String(error?.stack ?? error) })
})
matchmaker.on('serverAssigned', ({ matchId, requestId }) => tell({ kind: 'assigned', matchId, requestId }))
matchmaker.on('deploymentStopped', ({ requestId, reason }) => tell({ kind: 'stopped', requestId, reason }))
matchmaker.on('problem', ({ during, error }) => tell({ kind: 'problem', during, error: error?.name ?? String(error) }))
matchmaker.start()
await matchmaker.ready()

const state = () => {
  const { matches, stopsPending, blockedBy } = matchmaker.inspect()
  return {
    kind: 'state',
    stopsPending,
    blockedBy,
    matches: matches.map(({ matchId, phase, requestId }) => ({ matchId, phase, requestId })),
  }
}
process.on('message', async ({ kind, matchId }) => {
  if (kind === 'inspect') tell(state())
  if (kind === 'stop') void matchmaker.stopMatch(matchId).catch(() => {})
  if (kind === 'close') {
    const left = await matchmaker.close({ stopServers: true, timeoutMs: 15_000 })
    await client.close()
    process.send({ kind: 'closed', left: left.length }, () => process.exit(0))
  }
})
process.on('disconnect', () => process.exit(0))
tell({ kind: 'started' })
if (!joins) await new Promise(() => {})
for (let arrival = 0; arrival < 30; arrival++) {
  try {
    matchmaker.createTicket({
      queue: 'duel',
      players: ['a', 'b'].map((who) => ({ id: `${life}-${arrival}-${who}`, ip: '192.0.2.1' })),
    })
  } catch (error) {
    // The disk is full.
    if (!(error instanceof Unavailable)) throw error
  }
  await sleep(60)
}
