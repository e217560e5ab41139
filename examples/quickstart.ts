/** The README's quickstart: two players meet, and learn where to connect. */
import { createClient } from '@muster/core'
import { createEmulator } from '@muster/emulator'
import { createMatchmaker } from '@muster/matchmaker'

// 1. Start the emulator and register a game. In production, use your service URL, token and application version.
const emulator = createEmulator({ speed: 10 })
const { url } = await emulator.listen()
const client = createClient({ baseUrl: url, token: 'dev' })
await client.applications.create({ name: 'my-game' })
const image = { docker_repository: 'registry.example.com', docker_image: 'studio/server', docker_tag: '1.0' }
const ports = [{ name: 'game', port: 7777, protocol: 'UDP' }]
await client.versions.create({ app_name: 'my-game', name: '1.0', ...image, req_cpu: 512, req_memory: 1024, ports })

// 2. Define a queue: two players within 1,000 km. The distance rule is dropped after 10 s.
const deploy = { application: 'my-game', version: '1.0' }
const matchmaker = createMatchmaker({
  deployments: client.deployments,
  queues: [{ name: 'duel', matchSize: 2, rules: [{ kind: 'distance', maxKm: 1000, optionalAfterMs: 10_000 }], deploy }],
})
matchmaker.start()

// 3. Queue two players and wait until Ann's ticket has a server.
const ann = { id: 'ann', coordinates: { latitude: 52.5, longitude: 13.4 } }
const ben = { id: 'ben', coordinates: { latitude: 48.1, longitude: 11.6 } }
let ticket = matchmaker.createTicket({ queue: 'duel', players: [ann] })
matchmaker.createTicket({ queue: 'duel', players: [ben] })
while (ticket.status !== 'HOST_ASSIGNED') {
  ticket = await matchmaker.waitForChange(ticket.id, { version: ticket.version })
  console.log(ticket.status, ticket.assignment?.ports['game']?.link ?? '')
}

// 4. End the match; this stops its server.
await matchmaker.stopMatch(ticket.matchId ?? '')
await matchmaker.close()
await client.close()
await emulator.close()
