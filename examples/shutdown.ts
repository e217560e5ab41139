/**
 * A backend that ends well. On SIGTERM it makes no more matches, stops servers on which nobody plays yet, and leaves
 * those with players to the next process, which learns of them from the journal.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@muster/core'
import { createEmulator } from '@muster/emulator'
import { createFileJournal, createMatchmaker } from '@muster/matchmaker'

/** Less than the platform gives before it kills: `terminationGracePeriodSeconds` of Kubernetes is 30 by default. */
const CLOSE_WITHIN_MS = 20_000

const emulator = createEmulator({ speed: 10 })
const { url } = await emulator.listen()
const setup = createClient({ baseUrl: url, token: 'dev' })
await setup.applications.create({ name: 'my-game' })
const image = { docker_repository: 'registry.example.com', docker_image: 'studio/server', docker_tag: '1.0' }
const ports = [{ name: 'game', port: 7777, protocol: 'UDP' }]
await setup.versions.create({ app_name: 'my-game', name: '1.0', ...image, req_cpu: 512, req_memory: 1024, ports })
await setup.close()
/** On a disk that outlives the process. */
const folder = mkdtempSync(join(tmpdir(), 'my-game-'))
const path = join(folder, 'matches.journal')

/** What every process of the backend does first. */
function begin() {
  const client = createClient({ baseUrl: url, token: 'dev' })
  const matchmaker = createMatchmaker({
    deployments: client.deployments,
    queues: [{ name: 'duel', matchSize: 2, deploy: { application: 'my-game', version: '1.0' } }],
    journal: createFileJournal({ path }),
  })
  matchmaker.start()

  const shutDown = async () => {
    // First close what brings requests: `server.close()` of node:http, after the load balancer stopped sending any.
    const left = await matchmaker.close({ timeoutMs: CLOSE_WITHIN_MS })
    // The service did not confirm these stops in time. The journal knows of them, and the next process stops them.
    for (const { matchId, requestId } of left)
      console.warn(`match ${matchId} is left to the next process, with ${requestId}`)
    await client.close()
  }
  return { matchmaker, shutDown }
}

// One process: a match runs, and another one waits for its server.
const { matchmaker, shutDown } = begin()
const ended = once(process, 'SIGTERM').then(shutDown)
const assigned = new Promise<string>((resolve) => matchmaker.on('assigned', ({ matchId }) => resolve(matchId)))
const join2 = (...ids: string[]) =>
  matchmaker.createTicket({ queue: 'duel', players: ids.map((id) => ({ id, ip: '192.0.2.1' })) })
join2('ann', 'ben')
const matchId = await assigned
const created = new Promise((resolve) => matchmaker.on('deploymentCreated', resolve))
const waiting = join2('cas', 'dee')
await created
process.kill(process.pid, 'SIGTERM')
await ended
// Whoever had no server yet was told; their backend sends them to the next process.
assert.equal(matchmaker.getTicket(waiting.id)?.cancelReason, 'closed')

// The next one: it goes on with the match that runs, and with nothing else.
const next = begin()
await next.matchmaker.tick()
assert.deepEqual(
  next.matchmaker.inspect().matches.map((match) => [match.matchId, match.phase]),
  [[matchId, 'running']],
)
await next.matchmaker.stopMatch(matchId)
await next.shutDown()
await emulator.close()
rmSync(folder, { recursive: true })
