/**
 * Friends meet in a lobby, and queue in the matchmaker as one party. The two packages do not depend on each other.
 * `partiesOf` connects them: copy and change it.
 */
import assert from 'node:assert/strict'
import { createClient } from '@muster/core'
import { createEmulator } from '@muster/emulator'
import { createMatchmaker, AlreadyAssigned, UnknownTicket, type Matchmaker } from '@muster/matchmaker'
import { createLobbies, type Lobbies, type LobbyMatchmaker, type LobbyMessage, type MatchReport } from '@muster/relay'

/** Turns every started lobby into a ticket of this queue, and reports the ticket's progress to the lobby. */
function partiesOf(matchmaker: Matchmaker, queue: string) {
  const lobbyMatchmaker: LobbyMatchmaker = {
    // A repeated request of the same start has the same key, so it creates only one ticket.
    handOver: async ({ key, players }) => {
      matchmaker.createTicket({ id: key, queue, players: players.map(({ id, ip }) => ({ id, ip })) })
      return { reference: key }
    },
    withdraw: async (ticketId) => {
      try {
        matchmaker.cancelTicket(ticketId)
      } catch (error) {
        // If the ticket has ended or its players have the server's address, nothing remains to be cancelled.
        if (!(error instanceof UnknownTicket || error instanceof AlreadyAssigned)) throw error
      }
    },
  }

  /**
   * Reports tickets and matches to the lobbies. Lobbies recognize their own tickets by the key, and ignore all others.
   */
  const reportTo = (lobbies: Lobbies): void => {
    const playing = new Map<string, readonly string[]>()
    const reportAll = (keys: readonly string[], report: (key: string) => MatchReport) =>
      Promise.all(keys.map((key) => lobbies.reportMatch(report(key))))

    matchmaker.on('serverAssigned', ({ matchId, tickets, assignment }) => {
      const keys = tickets.map(({ id }) => id)
      playing.set(matchId, keys)
      const server = assignment.ports['game']?.link ?? assignment.fqdn
      return reportAll(keys, (key) => ({ key, status: 'assigned', assignment: { matchId, server } }))
    })
    matchmaker.on('deploymentStopped', ({ matchId }) => {
      const keys = playing.get(matchId) ?? []
      playing.delete(matchId)
      return reportAll(keys, (key) => ({ key, status: 'ended', reason: 'over' }))
    })
    matchmaker.on('expired', ({ ticket }) =>
      reportAll([ticket.id], (key) => ({ key, status: 'ended', reason: 'expired' })),
    )
    matchmaker.on('cancelled', ({ ticket, reason }) =>
      reportAll([ticket.id], (key) => ({ key, status: 'ended', reason })),
    )
  }

  return { lobbyMatchmaker, reportTo }
}

// The service on this machine, with an application version to deploy.
const emulator = createEmulator({ speed: 10 })
const client = createClient({ baseUrl: (await emulator.listen()).url, token: 'dev' })
await client.applications.create({ name: 'my-game' })
const image = { docker_repository: 'registry.example.com', docker_image: 'studio/server', docker_tag: '1.0' }
const ports = [{ name: 'game', port: 7777, protocol: 'UDP' }]
await client.versions.create({ app_name: 'my-game', name: '1.0', ...image, req_cpu: 512, req_memory: 1024, ports })

// Your backend, with matches of four players. Each lobby below is a party of two.
const squads = { name: 'squads', matchSize: 4, deploy: { application: 'my-game', version: '1.0' } }
const matchmaker = createMatchmaker({ deployments: client.deployments, queues: [squads] })
matchmaker.start()
const { lobbyMatchmaker, reportTo } = partiesOf(matchmaker, 'squads')
const lobbies = createLobbies({ matchmaker: lobbyMatchmaker })
reportTo(lobbies)

const ann = { id: 'ann', ip: '203.0.113.7' }
const ben = { id: 'ben', ip: '203.0.113.8' }
const cleo = { id: 'cleo', ip: '198.51.100.1' }
const dan = { id: 'dan', ip: '198.51.100.2' }
type Player = typeof ann

/** Creates a lobby, which a friend joins. */
async function gather(host: Player, friend: Player) {
  const { lobbyId, code } = await lobbies.create({
    player: host,
    maxPlayers: 2,
    visibility: 'private',
    requireReady: false,
  })
  await lobbies.join({ player: friend, code })
  return { lobbyId, code }
}

/** Starts a lobby. Returns the cursor from which its later events are read. */
const start = async (lobbyId: string, { id: playerId }: Player) => (await lobbies.start({ lobbyId, playerId })).cursor

/** Waits for the next event of this type, as a member sees it. */
async function heard<Type extends LobbyMessage['type']>(
  lobbyId: string,
  { id: playerId }: Player,
  type: Type,
  after: number,
) {
  for await (const message of lobbies.follow({ lobbyId, playerId, after })) {
    if (message.type === type) return message as Extract<LobbyMessage, { type: Type }>
  }
  return assert.fail(`${playerId} did not hear of ${type}`)
}

const red = await gather(ann, ben)
const blue = await gather(cleo, dan)

// If a member leaves while the party waits, the ticket is cancelled, so that no match is made for an absent player.
const firstStart = await start(red.lobbyId, ann)
const { reference: firstTicket } = await heard(red.lobbyId, ann, 'match.handed-over', firstStart)
assert.equal(matchmaker.getTicket(firstTicket)?.status, 'SEARCHING')
const cancelled = new Promise<string>((resolve) => matchmaker.on('cancelled', ({ ticket }) => resolve(ticket.id)))
await lobbies.leave({ lobbyId: red.lobbyId, playerId: 'ben' })
await heard(red.lobbyId, ann, 'run.ended', firstStart)
assert.equal(await cancelled, firstTicket)
console.log('ben has left the lobby, and its ticket is cancelled')

// The party is complete again and meets another party. All four players get the same server's address in their lobbies.
await lobbies.join({ player: ben, code: red.code })
const cursors = { red: await start(red.lobbyId, ann), blue: await start(blue.lobbyId, cleo) }
const assigned = await Promise.all([
  heard(red.lobbyId, ann, 'match.assigned', cursors.red),
  heard(red.lobbyId, ben, 'match.assigned', cursors.red),
  heard(blue.lobbyId, cleo, 'match.assigned', cursors.blue),
  heard(blue.lobbyId, dan, 'match.assigned', cursors.blue),
])
const servers = new Set(assigned.map(({ assignment }) => assignment?.['server']))
assert.equal(servers.size, 1)
assert.match(String([...servers][0]), /.+:\d+$/)
console.log('all four play at', ...servers)

// After the match, the lobbies are open again.
assert.deepEqual(await matchmaker.close({ stopServers: true }), [])
await Promise.all([
  heard(red.lobbyId, ben, 'run.ended', cursors.red),
  heard(blue.lobbyId, dan, 'run.ended', cursors.blue),
])
assert.equal((await lobbies.get({ lobbyId: red.lobbyId, playerId: 'ben' })).phase, 'open')
await lobbies.close()
assert.equal(emulator.inspect().deployments.filter(({ running }) => running).length, 0)
console.log('the match is over, and no server is left')
await client.close()
await emulator.close()
