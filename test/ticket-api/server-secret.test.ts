/**
 * Tests what a match's server may do with the secret in its environment: everything for its own match, nothing else.
 */
import { expect, test } from 'vitest'
import { duel, nothingLeft, until } from '../matchmaker/studio.js'
import { openCounter, type Ticket } from './counter.js'

const solo = { profile: 'duel', attributes: {} }

/** Starts two matches with running servers: of ann and ben, and of cas and dan. */
async function open(given?: Parameters<typeof openCounter>[0]) {
  const counter = await openCounter(given)
  const { call, untilStatus, emulator, deployments } = counter
  const begin = async (...players: readonly string[]) => {
    const before = new Set(deployments().map(({ request_id }) => request_id))
    const tickets = []
    for (const who of players) tickets.push(await call<Ticket>(who, 'POST', '/tickets', solo))
    const { match_id } = await untilStatus(players[0] ?? '', tickets[0]?.id ?? '', 'HOST_ASSIGNED')
    const server = deployments().find(({ request_id }) => !before.has(request_id))
    const environment = emulator.environment(server?.request_id ?? '') ?? {}
    expect(environment['MM_MATCH_ID']).toBe(match_id)
    return { matchId: match_id ?? '', secret: environment['MM_MATCH_SECRET'] ?? '', ticketId: tickets[0]?.id ?? '' }
  }
  return { ...counter, own: await begin('ann', 'ben'), other: await begin('cas', 'dan') }
}

test.concurrent('a server with its secret may report leavers, fill seats, find players, end its match', async () => {
  const { own, call, request, matchmaker, shut } = await open()
  const { matchId, secret, ticketId } = own
  expect(secret).toMatch(/^[0-9a-v]{21}\.[\w-]{22}$/)
  const comes = (player: string) => call(secret, 'GET', `/matches/${matchId}/players/${player}`)
  expect(await comes('ann')).toEqual({ player_id: 'ann', is_expected: true, team_id: 'team', ticket_id: ticketId })
  expect(await comes('cas')).toEqual({ player_id: 'cas', is_expected: false, team_id: null, ticket_id: null })

  await call(secret, 'POST', `/matches/${matchId}/players-left`, { player_ids: ['ben'] }, 204)
  expect(await comes('ben')).toMatchObject({ is_expected: false })
  const backfill = await call<{ id: string; version: number }>(secret, 'POST', '/backfills', { match_id: matchId })
  expect(await call(secret, 'GET', `/backfills/${backfill.id}`)).toMatchObject({ match_id: matchId })
  const teams = [{ name: 'team', slots: 1 }]
  const change = { version: backfill.version, teams }
  expect(await call(secret, 'PATCH', `/backfills/${backfill.id}`, change, 200)).toMatchObject({ status: 'SEARCHING' })
  await call(secret, 'DELETE', `/backfills/${backfill.id}`, undefined, 204)

  expect((await request(secret, 'DELETE', `/matches/${matchId}`)).status).toBe(202)
  expect(matchmaker.findPlayer('ann').tickets).toEqual([])
  expect(await shut()).toEqual(nothingLeft)
})

test.concurrent('the secret of a server is refused for another match and for any other request', async () => {
  const { own, other, call, request, matchmaker, shut } = await open()
  const { secret } = own
  await call('backend', 'POST', `/matches/${other.matchId}/players-left`, { player_ids: ['dan'] }, 204)
  const backfill = await call<{ id: string }>('backend', 'POST', '/backfills', { match_id: other.matchId })
  const path = `/backfills/${backfill.id}`
  const refused: readonly (readonly [string, string, object?])[] = [
    ['POST', `/matches/${other.matchId}/players-left`, { player_ids: ['cas'] }],
    ['DELETE', `/matches/${other.matchId}`],
    ['GET', `/matches/${other.matchId}/players/cas`],
    ['POST', '/backfills', { match_id: other.matchId }],
    ['GET', path],
    ['PATCH', path, { version: 1, teams: [{ name: 'team', slots: 1 }] }],
    ['DELETE', path],
    ['POST', '/matches', { profile: 'duel', teams: [] }],
    ['POST', '/matches/none/players-left', { player_ids: ['cas'] }],
  ]
  for (const [method, at, body] of refused) {
    const answer = await request(secret, method, at, body)
    expect([method, at, answer.status]).toEqual([method, at, 403])
  }
  expect((await request(secret, 'POST', '/backfills', { tickets: { [other.ticketId]: {} } })).status).toBe(400)
  // In production, such a token is invalid on other routes. In this test a token is a name, so it belongs to an unknown
  // player.
  expect((await request(secret, 'GET', `/tickets/${own.ticketId}`)).status).toBe(404)
  expect((await request(secret, 'GET', '/players/ann')).status).toBe(403)
  expect(matchmaker.inspect().matches.find(({ matchId }) => matchId === other.matchId)).toMatchObject({
    phase: 'running',
    playerIds: ['cas'],
  })
  expect(await call('backend', 'GET', path)).toMatchObject({ status: 'SEARCHING', version: 1 })
  expect(await shut()).toEqual(nothingLeft)
})

test.concurrent('the secret of a server is refused once its match is over', async () => {
  const { own, matchmaker, request, shut } = await open()
  await matchmaker.stopMatch(own.matchId)
  expect((await request(own.secret, 'GET', `/matches/${own.matchId}/players/ann`)).status).toBe(403)
  expect(await shut()).toEqual(nothingLeft)
})

test.concurrent('a match that no player joins ends, unless its server looks up one of its players', async () => {
  const queues = [{ ...duel, deploy: { ...duel.deploy, joinWithinMs: 4000 } }]
  const { own, other, call, request, matchmaker, shut } = await open({ studio: { matchmaker: { queues } } })
  const asks = (secret: string, path: string) => request(secret, 'GET', `/matches/${path}`)
  expect((await asks(own.secret, `${own.matchId}/players/ann`)).status).toBe(200)
  expect((await asks(other.secret, `${other.matchId}/players/ann`)).status).toBe(200)
  expect((await asks(own.secret, `${other.matchId}/players/cas`)).status).toBe(403)
  expect((await asks('backend', `${other.matchId}/players/cas`)).status).toBe(200)
  await until('the match ends', () => matchmaker.getTicket(other.ticketId)?.ended !== undefined)
  const ticket = await call<Ticket>('cas', 'GET', `/tickets/${other.ticketId}`)
  expect(ticket).toMatchObject({ status: 'HOST_ASSIGNED', ended: { reason: 'nobody-joined' } })
  await until('its server is gone', () => matchmaker.inspect().matches.length < 2)
  expect(matchmaker.inspect().matches.map(({ matchId }) => matchId)).toEqual([own.matchId])
  expect(await shut()).toEqual(nothingLeft)
})

test.concurrent.each([
  ['by the tickets of its backfill', (ticketId: string) => [{ tickets: { [ticketId]: { player_id: 'ann' } } }]],
  ['in a team of its backfill', () => [{ teams: teamOf('ann') }]],
  ['in a team, later', () => [{ teams: teamOf('a stranger') }, { version: 1, teams: teamOf('ann') }]],
] as const)(
  'a match that nobody joined continues if its server, not a backend, names a player %s',
  async (_, bodies) => {
    const queues = [{ ...duel, deploy: { ...duel.deploy, joinWithinMs: 4000 } }]
    const { own, other, call, matchmaker, shut } = await open({ studio: { matchmaker: { queues } } })
    for (const { as, match } of [
      { as: own.secret, match: own },
      { as: 'backend', match: other },
    ]) {
      const text = JSON.stringify(bodies(match.ticketId))
      const [create, change] = JSON.parse(match === own ? text : text.replaceAll('"ann"', '"cas"')) as readonly object[]
      const { id } = await call<{ id: string }>(as, 'POST', '/backfills', { match_id: match.matchId, ...create })
      if (change !== undefined) await call(as, 'PATCH', `/backfills/${id}`, change, 200)
      await call(as, 'DELETE', `/backfills/${id}`, undefined, 204)
    }
    await until('the match ends', () => matchmaker.getTicket(other.ticketId)?.ended !== undefined)
    expect(matchmaker.getTicket(other.ticketId)).toMatchObject({ ended: { reason: 'nobody-joined' } })
    // The players are free before the service has confirmed the stop.
    await until('its server is gone', () => matchmaker.inspect().matches.length < 2)
    expect(matchmaker.inspect().matches.map(({ matchId }) => matchId)).toEqual([own.matchId])
    expect(await shut()).toEqual(nothingLeft)
  },
)
const teamOf = (player: string) => [{ name: 'team', slots: 1, players: [{ player_id: player }] }]

test.concurrent('guesses of a server secret are limited for each address, without blocking the server', async () => {
  const counter = await openCounter({
    api: {
      authenticate: (request) =>
        request.headers.get('authorization')?.startsWith('known ')
          ? { id: request.headers.get('authorization') ?? '', role: 'backend' }
          : undefined,
      limits: { perAddress: { limit: 20, windowMs: 60_000 } },
    },
  })
  const { join, hasServer, matchmaker, emulator, deployments, request, shut } = counter
  const { id } = join('ann')
  join('ben')
  await hasServer(id)
  const { matchId } = matchmaker.getTicket(id) ?? {}
  const secret = emulator.environment(deployments()[0]?.request_id ?? '')?.['MM_MATCH_SECRET'] ?? ''
  const from = (address: string) => ({ 'x-forwarded-for': address })
  const guess = (nth: number) => {
    const guessed = `${nth}`.padStart(21, '0')
    return request(guessed, 'DELETE', `/matches/${matchId}`, undefined, from('203.0.113.66'))
  }
  const statuses: number[] = []
  for (let nth = 0; nth < 30; nth += 1) statuses.push((await guess(nth)).status)
  expect(statuses).toEqual([...Array(20).fill(401), ...Array(10).fill(429)])
  const answer = await request(secret, 'GET', `/matches/${matchId}/players/ann`, undefined, from('203.0.113.67'))
  expect(answer.status).toBe(200)
  expect(await shut()).toEqual(nothingLeft)
})
