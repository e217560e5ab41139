/** Tests that a latency rule chooses the location of the server, over real HTTP. */
import { createClient } from '@muster/core'
import type { Beacon } from '@muster/core/api'
import { createEmulator } from '@muster/emulator'
import { createMatchmaker, type Placed } from '@muster/matchmaker'
import { expect, test } from 'vitest'
import { publishGame } from './game.js'
import { until } from './studio.js'

const rules = [{ kind: 'latency', maxMs: 120 }] as const
const oslo = { latitude: 59.9, longitude: 10.7 }

test('the server of a match runs at the best common beacon of its players', async () => {
  const emulator = createEmulator({ speed: 50 })
  const { url } = await emulator.listen()
  const client = createClient({ baseUrl: url, token: 'dev' })
  await publishGame(client)
  // Read first, because a match waits for the beacons for at most a second.
  const beacons: Beacon[] = []
  for await (const beacon of client.locations.beacons.all()) beacons.push(beacon)
  const matchmaker = createMatchmaker({
    deployments: client.deployments,
    locations: client.locations,
    beacons: async () => beacons,
    queues: [{ name: 'duel', matchSize: 2, rules, deploy: { application: 'game', version: '1' } }],
    tickMs: 20,
  })
  let placed: Placed | undefined
  matchmaker.on('deploymentReady', (event) => void (placed = event.placed))
  matchmaker.start()
  const players = [
    { id: 'ann', coordinates: oslo, latencies: { London: 30, Frankfurt: 90, Tokyo: 110 } },
    { id: 'ben', coordinates: oslo, latencies: { London: 130, Frankfurt: 60, Tokyo: 20 } },
  ]
  for (const player of players) matchmaker.createTicket({ id: player.id, queue: 'duel', players: [player] })
  const assignment = () => matchmaker.getTicket('ann')?.assignment
  await until('there is a server', () => assignment() !== undefined)
  // London is too far for one player. The worst latency to Tokyo exceeds that to Frankfurt.
  expect(assignment()).toMatchObject({
    promised: { beacon: 'Frankfurt', latencyMs: 120 },
    location: { city: 'Frankfurt' },
  })
  expect(placed).toMatchObject({ beacon: 'Frankfurt', worstMs: 90, meanMs: 75, limitMs: 120 })
  expect(placed?.offKm).toBeLessThan(50)
  await matchmaker.close({ stopServers: true })
  await client.close()
  await emulator.close()
})
