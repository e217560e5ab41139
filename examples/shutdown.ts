/**
 * A backend that ends cleanly, and whose next process continues. On SIGTERM it accepts no more players and makes no
 * more matches. Everything else stays: waiting tickets keep waiting, and a starting server gets its players. The next
 * process reads all this from one file. The same holds after kill -9.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@muster/core'
import { createEmulator } from '@muster/emulator'
import { createMatchmaker, openStore, type CloseOptions } from '@muster/matchmaker'

/**
 * Milliseconds for closing. They must be less than the platform waits before it kills the process: Kubernetes'
 * `terminationGracePeriodSeconds` is 30 by default.
 */
const CLOSE_WITHIN_MS = 20_000

const emulator = createEmulator({ speed: 10 })
const { url } = await emulator.listen()
const setup = createClient({ baseUrl: url, token: 'dev' })
await setup.applications.create({ name: 'my-game' })
const image = { docker_repository: 'registry.example.com', docker_image: 'studio/server', docker_tag: '1.0' }
const ports = [{ name: 'game', port: 7777, protocol: 'UDP' }]
await setup.versions.create({ app_name: 'my-game', name: '1.0', ...image, req_cpu: 512, req_memory: 1024, ports })
await setup.close()
/** A folder on a disk that outlives the process. */
const folder = mkdtempSync(join(tmpdir(), 'my-game-'))

/** Starts a process of the backend. */
async function begin() {
  const client = createClient({ baseUrl: url, token: 'dev' })
  const matchmaker = createMatchmaker({
    deployments: client.deployments,
    queues: [{ name: 'duel', matchSize: 2, deploy: { application: 'my-game', version: '1.0' } }],
    store: await openStore({ path: join(folder, 'muster.log') }),
  })
  matchmaker.start()
  // Before `ready` resolves, commands throw `Unavailable`, because the state of the previous process is still being
  // read.
  await matchmaker.ready()

  const shutDown = async (options: CloseOptions = {}) => {
    // First stop accepting requests: `server.close()` of node:http, once the load balancer sends none any more.
    await matchmaker.close({ timeoutMs: CLOSE_WITHIN_MS, ...options })
    await client.close()
  }
  return { matchmaker, shutDown }
}

// The first process: one match runs, another waits for its server, and one player waits for an opponent.
const { matchmaker, shutDown } = await begin()
const ended = once(process, 'SIGTERM').then(() => shutDown())
const assigned = new Promise<string>((resolve) => matchmaker.on('serverAssigned', ({ matchId }) => resolve(matchId)))
const join2 = (...ids: string[]) =>
  matchmaker.createTicket({ queue: 'duel', players: ids.map((id) => ({ id, ip: '192.0.2.1' })) })
join2('ann', 'ben')
const matchId = await assigned
const created = new Promise((resolve) => matchmaker.on('deploymentCreated', resolve))
const starting = join2('cas', 'dee')
await created
const waiting = join2('eve')
process.kill(process.pid, 'SIGTERM')
await ended

// The next process continues with the running match, the starting server and the waiting tickets.
const next = await begin()
assert.equal(next.matchmaker.getTicket(waiting.id)?.status, 'SEARCHING')
let ticket = next.matchmaker.getTicket(starting.id)
while (ticket !== undefined && ticket.status !== 'HOST_ASSIGNED')
  ticket = await next.matchmaker.waitForChange(ticket.id, ticket)
const running = next.matchmaker.inspect().matches.map((match) => match.matchId)
assert.deepEqual(running.toSorted(), [matchId, ticket?.matchId].toSorted())
assert.equal(emulator.inspect().deployments.length, 2)

// The last process ends everything.
await next.shutDown({ stopServers: true })
await emulator.close()
rmSync(folder, { recursive: true })
