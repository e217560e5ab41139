import { expect, test } from 'vitest'
import { duel } from '../matchmaker.fixture.js'
import { setUpReal } from './ticket-api.fixture.js'

test('a player of a running match who creates a second ticket gets 409 with the id of the match', async () => {
  const { call, service, clock } = setUpReal([duel])
  const wait = async (who: string) =>
    (await call(who, 'POST', '/tickets', { profile: 'duel' })) as { status: number; json: { id: string } }
  const [ann] = [await wait('ann'), await wait('ben')]
  for (let step = 0; step < 1200; step += 1) {
    if (step < 40) await service.tick()
    await clock.advance(step < 40 ? 250 : 3000)
  }
  await service.tick()
  const found = await call('ann', 'GET', `/tickets/${ann.json.id}`)
  expect(found).toMatchObject({
    status: 200,
    json: { status: 'HOST_ASSIGNED', assignment: { fqdn: 'r1.example.com' } },
  })
  const { match_id } = found.json as { match_id: string }
  expect(await wait('ann')).toMatchObject({
    status: 409,
    json: { code: 'player-playing', match_id, ticket_id: ann.json.id },
  })

  // A group learns only that another member is playing.
  const group = (await call('cleo', 'POST', '/groups', { profile: 'duel', is_ready: false })).json as {
    group_id: string
    member_id: string
  }
  await call('ann', 'POST', `/groups/${group.group_id}/members`, { profile: 'duel' })
  const ready = await call('cleo', 'PATCH', `/groups/${group.group_id}/members/${group.member_id}`, { is_ready: true })
  expect([ready.status, (ready.json as { code: string }).code, JSON.stringify(ready.json).includes(match_id)]).toEqual([
    409,
    'member-playing',
    false,
  ])

  await call('backend', 'POST', `/matches/${match_id}/players-left`, { player_ids: ['ann'] })
  expect((await wait('ann')).status).toBe(201)
})
