import { createManualClock } from '@muster/core/clock'
import { describe, expect, test } from 'vitest'
import { createGroupStore, type GroupStore } from './group-store.js'
import { gather, later, solo, type Member } from './groups.fixture.js'
import { setUp } from './ticket-api.fixture.js'
import { assignment } from './ticket-service.fixture.js'

describe('a group', () => {
  test('of two groups that one player creates at the same time, the player stays in one', async () => {
    const { call } = setUp()
    const both = await Promise.all([later, later].map((body) => call('ann', 'POST', '/groups', body)))
    expect(both.map(({ status }) => status)).toEqual([201, 201])
    const ids = both.map(({ json }) => (json as Member).group_id)
    const read = await Promise.all(ids.map((id) => call('ann', 'GET', `/groups/${id}`)))
    expect(read.map(({ status }) => status).toSorted()).toEqual([200, 404])
  })

  test('a group of one player who is ready searches immediately', async () => {
    const { call, service } = setUp()
    const { status, json } = await call('ann', 'POST', '/groups', solo, { from: '203.0.113.7' })
    const { member_id, group_id } = json as Member
    expect(status).toBe(201)
    expect(json).toEqual({
      member_id,
      group_id,
      is_ready: true,
      status: 'SEARCHING',
      ticket_id: group_id,
      team_id: null,
      match_id: null,
      assignment: null,
    })
    expect(service.players.get(group_id)).toMatchObject([{ id: 'ann', ip: '203.0.113.7' }])
    service.change(group_id, { status: 'HOST_ASSIGNED', matchId: 'm1', team: 'red', assignment })
    const where = { status: 'HOST_ASSIGNED', team_id: 'red', assignment: { fqdn: 'abc.example.com' } }
    expect((await call('ann', 'GET', `/groups/${group_id}`)).json).toMatchObject(where)
    expect((await call('ann', 'GET', `/groups/${group_id}/members/${member_id}`)).json).toMatchObject(where)
  })

  test('a group searches as soon as all members are ready, and each member has their own ticket', async () => {
    const { call, service, ann, group, join, ready } = await gather()
    const bob = await join('bob')
    expect((await call('bob', 'GET', group)).json).toEqual({
      status: 'FORMING',
      team_id: null,
      assignment: null,
      group_id: ann.group_id,
      profile: 'duel',
      members: [
        { player_id: 'ann', is_ready: false },
        { player_id: 'bob', is_ready: false },
      ],
    })
    expect((await ready('bob', bob)).json).toMatchObject({ status: 'FORMING', is_ready: true, ticket_id: null })
    expect(service.players.size).toBe(0)
    expect((await ready('ann', ann)).json).toMatchObject({ status: 'SEARCHING', ticket_id: `${ann.group_id}.0` })
    expect((await call('bob', 'GET', `${group}/members/${bob.member_id}`)).json).toMatchObject({
      ticket_id: `${ann.group_id}.1`,
    })
    expect((await call('bob', 'GET', `/tickets/${ann.group_id}.1`)).json).toMatchObject({
      player_id: 'bob',
      group_id: ann.group_id,
    })
  })

  test('a searching group refuses new members and changes of readiness', async () => {
    const { call, ann, group, ready, join } = await gather()
    await ready('ann', ann)
    expect(await call('bob', 'POST', `${group}/members`, solo)).toMatchObject({
      status: 409,
      json: { code: 'already-searching' },
    })
    expect((await ready('ann', ann, false)).status).toBe(409)
    expect((await ready('ann', ann)).status).toBe(200)
    // The player has already joined. The response may have been lost.
    expect(await join('ann')).toMatchObject({ member_id: ann.member_id, status: 'SEARCHING' })
  })

  test('a group stops searching when its owner deletes it or a member leaves, unless a match is found', async () => {
    for (const how of ['owner', 'member'] as const) {
      const { call, service, ann, group, join, ready } = await gather()
      const bob = await join('bob', solo)
      await ready('ann', ann)
      expect((await call('bob', 'DELETE', group)).status).toBe(403)
      const cancel = () =>
        how === 'owner' ? call('ann', 'DELETE', group) : call('bob', 'DELETE', `${group}/members/${bob.member_id}`)
      expect((await cancel()).status).toBe(204)
      expect(service.getTicket(ann.group_id)).toMatchObject({ status: 'CANCELLED' })
      service.change(ann.group_id, { status: 'HOST_ASSIGNED', assignment })
      expect((await cancel()).status).toBe(409)
    }
  })

  test('a group searches once the only member who was not ready has left the group', async () => {
    const { call, service, ann, group, join } = await gather()
    await join('bob', solo)
    expect((await call('ann', 'DELETE', `${group}/members/${ann.member_id}`)).status).toBe(204)
    expect(service.players.get(ann.group_id)?.map(({ id }) => id)).toEqual(['bob'])
  })

  test('a group waits for readiness again if its ticket is refused after a member left', async () => {
    const { call, ann, group, join } = await gather()
    await join('bob', solo)
    await call('bob', 'POST', '/tickets', { profile: 'duel' })
    expect((await call('ann', 'DELETE', `${group}/members/${ann.member_id}`)).status).toBe(204)
    expect((await call('bob', 'GET', group)).json).toMatchObject({
      status: 'FORMING',
      members: [{ player_id: 'bob', is_ready: false }],
    })
  })

  test('when the owner of a group leaves, the member who joined first becomes the owner', async () => {
    const { call, ann, group, join } = await gather()
    const bob = await join('bob')
    const cleo = await join('cleo')
    await call('ann', 'DELETE', `${group}/members/${ann.member_id}`)
    expect((await call('ann', 'GET', group)).status).toBe(404)
    expect((await call('cleo', 'DELETE', `${group}/members/${bob.member_id}`)).status).toBe(404)
    expect((await call('bob', 'DELETE', `${group}/members/${cleo.member_id}`)).status).toBe(204)
    expect((await call('bob', 'DELETE', group)).status).toBe(204)
    expect((await call('bob', 'GET', group)).status).toBe(404)
  })

  test('a repeated join of a group answers 201 with the same member', async () => {
    const { call, group, join } = await gather()
    const bob = await join('bob')
    const again = await call('bob', 'POST', `${group}/members`, later)
    expect(again).toMatchObject({ status: 201, json: { member_id: bob.member_id } })
    expect((await call('bob', 'GET', group)).json['members']).toHaveLength(2)
  })

  test('a member who creates or joins another group leaves the first group', async () => {
    const { api, call, group, join } = await gather()
    await join('bob')
    await call('bob', 'POST', '/groups', later)
    expect((await call('ann', 'GET', group)).json).toMatchObject({ members: [{ player_id: 'ann' }] })
    expect(api.counts().groups).toBe(2)
    await join('bob')
    expect(api.counts().groups).toBe(1)
  })

  test('a player whose new group is refused stays in the first group, as not ready', async () => {
    const { call, ann, group, join, ready } = await gather()
    const bob = await join('bob')
    await ready('bob', bob)
    await call('bob', 'POST', '/tickets', { profile: 'duel' })
    expect(await call('bob', 'POST', '/groups', solo)).toMatchObject({ status: 409, json: { code: 'player-busy' } })
    expect((await call('ann', 'GET', group)).json['members']).toEqual([
      { player_id: 'ann', is_ready: false },
      { player_id: 'bob', is_ready: false },
    ])
    // A player who is alone in the first group also stays in it.
    await call('bob', 'DELETE', `${group}/members/${bob.member_id}`)
    await call('ann', 'POST', '/tickets', { profile: 'duel' })
    expect((await call('ann', 'POST', '/groups', solo)).status).toBe(409)
    expect((await call('ann', 'GET', `${group}/members/${ann.member_id}`)).json).toMatchObject({ is_ready: false })
  })

  test('a group has exactly one profile, which must exist', async () => {
    const { call, group } = await gather()
    expect(await call('bob', 'POST', `${group}/members`, { ...solo, profile: 'ranked' })).toMatchObject({
      status: 400,
      json: { code: 'other-profile', field: 'profile' },
    })
    expect(await call('bob', 'POST', '/groups', { ...later, profile: 'chess' })).toMatchObject({
      status: 400,
      json: { code: 'unknown-profile' },
    })
    expect(
      await call('bob', 'POST', '/groups', { ...later, roles: Array.from({ length: 256 }, () => 'x') }),
    ).toMatchObject({ status: 400, json: { code: 'invalid-ticket' } })
  })

  test('the refusal of a group names the member whose values are refused, not the values', async () => {
    const { call, service, ann, ready } = await gather()
    const unfit = await call('bob', 'POST', '/groups', { profile: 'ranked', attributes: {} })
    expect(unfit).toMatchObject({ status: 400, json: { field: 'attributes.skill' } })
    await ready('ann', ann)
    expect(await call('ann', 'POST', '/groups', solo)).toMatchObject({
      status: 409,
      json: { code: 'player-busy', ticket_id: ann.group_id },
    })
    const cleo = (await call('cleo', 'POST', '/groups', { ...later, profile: 'ranked', attributes: {} })).json as Member
    await call('ann', 'POST', `/groups/${cleo.group_id}/members`, {
      ...solo,
      profile: 'ranked',
      attributes: { skill: 1 },
    })
    const dan = (body: object) =>
      call('dan', 'POST', `/groups/${cleo.group_id}/members`, {
        ...solo,
        profile: 'ranked',
        attributes: { skill: 1 },
        ...body,
      })
    await dan({ is_ready: false })
    await call('cleo', 'PATCH', `/groups/${cleo.group_id}/members/${cleo.member_id}`, { is_ready: true })
    expect(await dan({})).toMatchObject({ status: 409, json: { code: 'member-refused' } })
    await call('cleo', 'POST', `/groups/${cleo.group_id}/members`, {
      ...solo,
      profile: 'ranked',
      attributes: { skill: 1 },
    })
    const busy = await dan({})
    expect(busy).toMatchObject({ status: 409, json: { code: 'member-busy' } })
    expect(JSON.stringify(busy.json)).not.toContain(ann.group_id)
    expect(service.players.size).toBe(1)
  })

  test('a group expires when no client reads it, unless it searches', async () => {
    const { api, call, clock, service, ann, group } = await gather()
    const bob = (await call('bob', 'POST', '/groups', solo)).json as Member
    /** Passes time in which others send requests. Without any, it would count as a pause of the process. */
    const pass = async (ms: number) => {
      for (let left = ms; left > 0; left -= 100_000) {
        await clock.advance(Math.min(left, 100_000))
        await call('cleo', 'GET', '/groups/nosuch')
      }
    }
    await pass(299_999)
    expect((await call('ann', 'GET', group)).status).toBe(200)
    await pass(299_999)
    expect((await call('ann', 'GET', group)).status).toBe(200)
    await pass(300_000)
    expect((await call('ann', 'GET', group)).status).toBe(404)
    expect((await call('bob', 'GET', `/groups/${bob.group_id}`)).status).toBe(200)
    service.remove(bob.group_id)
    expect((await call('bob', 'GET', `/groups/${bob.group_id}`)).status).toBe(404)
    expect(api.counts().groups).toBe(0)
    expect((await call('ann', 'DELETE', `${group}/members/${ann.member_id}`)).status).toBe(404)
  })

  test('a new group is refused beyond the maximum number of groups', async () => {
    const { call } = await gather({ limits: { groups: 2 } })
    expect((await call('bob', 'POST', '/groups', later)).status).toBe(201)
    expect(await call('cleo', 'POST', '/groups', later)).toMatchObject({ status: 503, json: { code: 'busy' } })
    await call('bob', 'POST', '/groups', later)
    expect((await call('bob', 'POST', '/groups', later)).status).toBe(201)
  })
})

describe('a group with concurrent changes', () => {
  /** Creates a store in which another request changes the group first, `times` times. */
  async function contended(times: number) {
    const clock = createManualClock()
    const inner = createGroupStore({ clock, idleMs: 1000, mostGroups: 10, isAlive: () => true })
    let left = 0
    const groups: GroupStore = {
      ...inner,
      replace: async (group, version) => {
        const present = await inner.find(group.id)
        if (left > 0 && present !== undefined) {
          left -= 1
          await inner.replace(present.group, present.version)
        }
        return inner.replace(group, version)
      },
    }
    const world = await gather({ groups })
    left = times
    return world
  }

  test('a group changed concurrently is read again, and the requested change is applied to its new state', async () => {
    const { call, group, ann, join, ready } = await contended(3)
    const bob = await join('bob')
    expect((await ready('bob', bob)).json).toMatchObject({ is_ready: true })
    expect((await call('ann', 'DELETE', `${group}/members/${ann.member_id}`)).status).toBe(204)
    expect((await call('bob', 'GET', group)).json).toMatchObject({
      members: [{ player_id: 'bob' }],
      status: 'SEARCHING',
    })
  })

  test('a change of a group answers 503 and has no effect if the conflicts with other changes do not end', async () => {
    const { call, group } = await contended(Infinity)
    const joined = await call('bob', 'POST', `${group}/members`, later)
    expect(joined).toMatchObject({ status: 503, json: { code: 'busy' } })
    expect((await call('ann', 'GET', group)).json).toMatchObject({ members: [{ player_id: 'ann' }] })
  })

  test('a group refuses joins and leaves while its ticket is created', async () => {
    const { clock, service, call, group, ann } = await gather()
    const create = service.createTicket
    let during: Promise<unknown>[] = []
    Object.assign(service, {
      createTicket: async (...input: Parameters<typeof create>) => {
        const path = `${group}/members`
        during = [call('bob', 'POST', path, later), call('ann', 'DELETE', `${path}/${ann.member_id}`)]
        expect(await Promise.all(during)).toMatchObject([{ status: 409 }, { status: 409 }])
        return create(...input)
      },
    })
    const started = await call('ann', 'PATCH', `${group}/members/${ann.member_id}`, { is_ready: true })
    expect(started.json).toMatchObject({ status: 'SEARCHING', ticket_id: ann.group_id })
    expect(during).toHaveLength(2)
    expect(clock.now()).toBeGreaterThan(0)
  })
})
