/**
 * Measures the time from a found match until its players are sent to a warm server, over loopback, with simulated game
 * servers.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createClient } from '@muster/core'
import { systemClock } from '@muster/core/clock'
import { nodeListener } from '@muster/core/http'
import { createEmulator } from '@muster/emulator'
import { createMatchmaker, createTicketApi } from '@muster/matchmaker'
import { atMost, type Figures } from '../figure.js'

const MATCHES = 200
const WARM = 30
/** Milliseconds between two matches, and milliseconds of a match. */
const GAP_MS = 100
const MATCH_MS = 400
/** Upper bound in milliseconds of the median of a few round trips on this machine. */
const ROUND_TRIP_MS = 1

export async function warmFigures(): Promise<Figures> {
  let api: (request: Request) => Promise<Response> = async () => new Response(null, { status: 503 })
  const server = createServer(nodeListener((request) => api(request)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const emulator = createEmulator({
    limits: false,
    page: false,
    deployTimes: { seekMs: 50, deployMs: 100, cachedDeployMs: 100, spread: 0 },
    gameServers: { bootMs: 50, matchMs: MATCH_MS },
  })
  const { url } = await emulator.listen()
  const client = createClient({ baseUrl: url, token: 'dev' })
  await client.applications.create({ name: 'game' })
  const image = { docker_repository: 'registry.example.com', docker_image: 'studio/game', docker_tag: '1' }
  const ports = [{ name: 'game', port: 7777, protocol: 'UDP' }]
  await client.versions.create({ app_name: 'game', name: '1', ...image, req_cpu: 512, req_memory: 512, ports })
  const matchmaker = createMatchmaker({
    deployments: client.deployments,
    queues: [{ name: 'duel', matchSize: 2, pool: 'arena' }],
    pools: [
      {
        name: 'arena',
        deploy: { application: 'game', version: '1' },
        places: [{ name: 'Frankfurt', latitude: 50.1, longitude: 8.7 }],
        reuse: { maxMatches: 1000 },
        at: [{ cron: '* * * * *', minutes: 2, min: WARM }],
      },
    ],
    apiUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  })
  api = createTicketApi(matchmaker, { authenticate: () => undefined })
  const foundAt = new Map<string, number>()
  const took: number[] = []
  const warm: string[] = []
  matchmaker.on('deploymentReady', ({ requestId }) => warm.push(requestId))
  matchmaker.on('matchFound', ({ matchId }) => foundAt.set(matchId, systemClock.now()))
  matchmaker.on('serverAssigned', ({ matchId }) => took.push(systemClock.now() - (foundAt.get(matchId) ?? 0)))
  matchmaker.start()
  while (warm.length < WARM) await systemClock.sleep(50)
  await systemClock.sleep(1500)
  for (let match = 0; match < MATCHES; match += 1) {
    const players = [`a${match}`, `b${match}`].map((id) => ({ id, ip: '192.0.2.7' }))
    matchmaker.createTicket({ queue: 'duel', players })
    await systemClock.sleep(GAP_MS)
  }
  for (let waited = 0; waited < 50 && took.length < MATCHES; waited += 1) await systemClock.sleep(100)
  const missing = MATCHES - took.length
  await matchmaker.close({ stopServers: true })
  await client.close()
  await emulator.close()
  server.close()
  server.closeAllConnections()
  took.sort((one, other) => one - other)
  const at = (share: number) => took[Math.min(took.length - 1, Math.floor(took.length * share))] ?? Infinity
  const beside = `${MATCHES} matches, ${missing} without a server, ${emulator.inspect().deployments.length} servers`
  return {
    figures: [
      atMost('match found to players sent, warm, p50', at(0.5), ROUND_TRIP_MS + 20, 'ms', beside),
      atMost('match found to players sent, warm, p99', at(0.99), 150, 'ms'),
      atMost('matches without a server', missing, 0, 'matches'),
    ],
    peers: {},
  }
}
