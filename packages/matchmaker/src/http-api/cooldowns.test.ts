import { describe, expect, test } from 'vitest'
import { setUpReal } from './ticket-api.fixture.js'

const queues = [
  {
    name: 'duel',
    matchSize: 2,
    acceptance: { withinMs: 10_000 },
    cooldown: { firstMs: 60_000 },
    deploy: { application: 'game', version: '1' },
  },
]
const body = { profile: 'duel' }
/** One minute after the clock's start. */
const retryAt = new Date(Date.UTC(2026, 0, 31, 8, 16)).toISOString()

/** Starts a match of ann and ben, which has just been found. */
async function found() {
  const all = setUpReal(queues)
  const created = async (who: string) => (await all.call(who, 'POST', '/tickets', body)).json as { readonly id: string }
  const [ann, ben] = [await created('ann'), await created('ben')]
  await all.service.tick()
  return { ...all, ann, ben }
}

describe('the cooldown of a player through the API', () => {
  test('a player who declines a match gets 409 for new tickets until the cooldown ends', async () => {
    const { call, clock, ann } = await found()
    expect((await call('ann', 'POST', `/tickets/${ann.id}/decline`)).status).toBe(200)
    const refused = await call('ann', 'POST', '/tickets', body)
    expect(refused).toMatchObject({ status: 409, json: { code: 'player-cooling-down', retry_at: retryAt } })
    expect(refused.headers.get('retry-after')).toBe('60')
    await clock.advance(60_000)
    expect((await call('ann', 'POST', '/tickets', body)).status).toBe(201)
  })

  test('a player who deletes a matched ticket gets a cooldown, but not if a backend deletes the ticket', async () => {
    const { call, ann, ben } = await found()
    await call('ann', 'DELETE', `/tickets/${ann.id}`)
    await call('backend', 'DELETE', `/tickets/${ben.id}`)
    expect((await call('ann', 'POST', '/tickets', body)).status).toBe(409)
    expect((await call('ben', 'POST', '/tickets', body)).status).toBe(201)
  })

  test('only the member who cancels the search of a group with a found match gets a cooldown', async () => {
    const { call, service } = setUpReal(queues)
    const { json } = await call('ann', 'POST', '/groups', { ...body, is_ready: true })
    const { group_id } = json as { readonly group_id: string }
    await call('ben', 'POST', '/tickets', body)
    await service.tick()
    expect((await call('ann', 'DELETE', `/groups/${group_id}`)).status).toBe(204)
    expect((await call('ann', 'POST', '/tickets', body)).status).toBe(409)
  })
})

test('a refused group learns until when a member is on cooldown, not which member', async () => {
  const { call, ann, ben } = await found()
  await call('ann', 'POST', `/tickets/${ann.id}/decline`)
  await call('ben', 'DELETE', `/tickets/${ben.id}`)
  const { json } = await call('ann', 'POST', '/groups', { ...body, is_ready: false })
  const { group_id, member_id } = json as { readonly group_id: string; readonly member_id: string }
  await call('cas', 'POST', `/groups/${group_id}/members`, { ...body, is_ready: false })
  await call('ann', 'PATCH', `/groups/${group_id}/members/${member_id}`, { is_ready: true })
  const joined = await call('cas', 'POST', `/groups/${group_id}/members`, { ...body, is_ready: true })
  expect(joined).toMatchObject({ status: 409, json: { code: 'member-cooling-down', retry_at: retryAt } })
  expect(JSON.stringify(joined.json)).not.toContain('ann')
})

describe('the cooldown API for backends', () => {
  test('a backend reads the cooldowns of a player, and clears them', async () => {
    const { call, ann, clock } = await found()
    await call('ann', 'POST', `/tickets/${ann.id}/decline`)
    const forgottenAt = new Date(Date.parse(retryAt) + 3_600_000).toISOString()
    const one = { name: 'duel', offences: 1, until: retryAt, forgotten_at: forgottenAt }
    expect((await call('backend', 'GET', '/players/ann/cooldown')).json).toEqual({ player_id: 'ann', cooldowns: [one] })
    await clock.advance(60_000)
    expect((await call('backend', 'GET', '/players/ann/cooldown')).json).toEqual({
      player_id: 'ann',
      cooldowns: [{ ...one, until: null }],
    })
    expect((await call('backend', 'DELETE', '/players/ann/cooldown')).status).toBe(204)
    expect((await call('backend', 'GET', '/players/ann/cooldown')).json).toEqual({ player_id: 'ann', cooldowns: [] })
  })

  test('a backend learns which member of a party is on cooldown', async () => {
    const { call, ann } = await found()
    await call('ann', 'POST', `/tickets/${ann.id}/decline`)
    const tickets = ['ann', 'dee'].map((id) => ({ ...body, player_id: id, player_ip: '198.51.100.7' }))
    expect(await call('backend', 'POST', '/group-tickets', { player_tickets: tickets })).toMatchObject({
      status: 409,
      json: { code: 'player-cooling-down', detail: expect.stringContaining('"ann"') },
    })
  })
})
