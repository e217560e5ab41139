/**
 * Skill and roles of players come from the backend, and only the wanted maps from the player. A client that states its
 * own skill is refused.
 */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createClient } from '@muster/core'
import { bearerToken, nodeListener } from '@muster/core/http'
import { createEmulator } from '@muster/emulator'
import { createMatchmaker, createTicketApi, type PlayerProfile } from '@muster/matchmaker'

const emulator = createEmulator({ speed: 50 })
const { url } = await emulator.listen()
const client = createClient({ baseUrl: url, token: 'dev' })
await client.applications.create({ name: 'my-game' })
const image = { docker_repository: 'registry.example.com', docker_image: 'studio/server', docker_tag: '1.0' }
const ports = [{ name: 'game', port: 7777, protocol: 'UDP' }]
await client.versions.create({ app_name: 'my-game', name: '1.0', ...image, req_cpu: 512, req_memory: 1024, ports })

const ranked = {
  name: 'ranked',
  matchSize: 2,
  rules: [
    { kind: 'difference', attribute: 'skill', max: 100 },
    { kind: 'overlap', attribute: 'maps' },
  ],
  // Players may state only these of the attributes that rules compare.
  playerMayState: ['maps'],
  deploy: { application: 'my-game', version: '1.0' },
} as const
const matchmaker = createMatchmaker({ deployments: client.deployments, queues: [ranked] })
matchmaker.start()

/** Your database. */
const players = new Map<string, PlayerProfile>([
  ['ann', { attributes: { skill: 1510 } }],
  ['ben', { attributes: { skill: 1490 } }],
])
const api = createTicketApi(matchmaker, {
  // Instead of `profiles` below, the token may contain claims: { id, profile: { attributes: { skill: claims.skill } }
  // }.
  authenticate: (request) => {
    const id = bearerToken(request)
    return id === undefined ? undefined : { id }
  },
  profile: {
    // Called with many player ids at once.
    resolve: async (ids) =>
      new Map(ids.flatMap((id) => (players.has(id) ? [[id, players.get(id) as PlayerProfile]] : []))),
    cacheMs: 10_000,
    // If `resolve` fails, the players are refused with 503. A default profile can be stated instead of `refuse`.
    whenFailed: 'refuse',
  },
})
const server = createServer(nodeListener(api))
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

async function waitFor(player: string, attributes: object) {
  const headers = { authorization: player, 'content-type': 'application/json' }
  const response = await fetch(`${base}/tickets`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ profile: 'ranked', attributes }),
  })
  return {
    status: response.status,
    ticket: (await response.json()) as { readonly id: string; readonly message?: string },
  }
}

const forged = await waitFor('ann', { maps: ['ice'], skill: 9000 })
assert.equal(forged.status, 400)
console.log(forged.ticket.message)

const assigned = new Promise<string>((resolve) => matchmaker.on('serverAssigned', ({ matchId }) => resolve(matchId)))
assert.equal((await waitFor('ann', { maps: ['ice', 'fog'] })).status, 201)
assert.equal((await waitFor('ben', { maps: ['fog'] })).status, 201)
await matchmaker.stopMatch(await assigned)
console.log('ann and ben met on fog, by the skill that the backend knows')

server.close()
assert.deepEqual(await matchmaker.close({ stopServers: true }), [])
await client.close()
await emulator.close()
