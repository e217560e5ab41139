/** The README's quickstart: two players meet, and are told where to connect. */
import { createClient } from '@muster/core'
import { createEmulator } from '@muster/emulator'
import { createMatchmaker } from '@muster/matchmaker'

// The service on this machine. In production: its address, your token, and an application version of yours.
const emulator = createEmulator({ speed: 10 })
const { url } = await emulator.listen()
const client = createClient({ baseUrl: url, token: 'dev' })
await client.applications.create({ name: 'my-game' })
const image = { docker_repository: 'registry.example.com', docker_image: 'studio/server', docker_tag: '1.0' }
const ports = [{ name: 'game', port: 7777, protocol: 'UDP' }]
await client.versions.create({ app_name: 'my-game', name: '1.0', ...image, req_cpu: 512, req_memory: 1024, ports })

// Matchmaking.
const rules = [{ kind: 'distance', maxKm: 1000, optionalAfterMs: 10_000 }] as const
const duel = { name: 'duel', matchSize: 2, rules, deploy: { application: 'my-game', version: '1.0' } }
const matchmaker = createMatchmaker({ deployments: client.deployments, queues: [duel] })
matchmaker.start()

const assigned = new Promise<string>((resolve) => {
  matchmaker.on('assigned', ({ tickets, assignment }) => {
    console.log(`${tickets.flatMap(({ players }) => players.map(({ id }) => id)).join(' and ')} play at`, assignment.ports['game']?.link)
    resolve(tickets[0]?.matchId ?? '')
  })
})
matchmaker.createTicket({ queue: 'duel', players: [{ id: 'ann', coordinates: { latitude: 52.5, longitude: 13.4 } }] })
matchmaker.createTicket({ queue: 'duel', players: [{ id: 'ben', coordinates: { latitude: 48.1, longitude: 11.6 } }] })

// When the match is over, its server goes.
await matchmaker.stopMatch(await assigned)
await matchmaker.close()
await client.close()
await emulator.close()
