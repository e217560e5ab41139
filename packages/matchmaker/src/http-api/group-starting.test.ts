/** The process ends while a group's search begins. */
import { createManualClock } from '@muster/core/clock'
import { describe, expect, test } from 'vitest'
import { PlayerBusy, Unavailable } from '../errors.js'
import { createGroupStore } from './group-store.js'
import { gather } from './groups.fixture.js'
import { createTicketApi } from './ticket-api.js'

describe('a group whose process ends while its search starts', () => {
  test('a group gets its ticket by the next request if its process ended before the ticket was created', async () => {
    const { clock, service, call, group, ann } = await gather()
    const create = service.createTicket
    Object.assign(service, { createTicket: () => new Promise(() => {}) })
    void call('ann', 'PATCH', `${group}/members/${ann.member_id}`, { is_ready: true })
    await new Promise((resolve) => setImmediate(resolve))
    Object.assign(service, { createTicket: create })
    expect((await call('ann', 'GET', group)).json).toMatchObject({ status: 'FORMING' })
    await clock.advance(10_000)
    expect((await call('ann', 'GET', group)).json).toMatchObject({ status: 'SEARCHING' })
    expect(service.getTicket(ann.group_id)).toMatchObject({ players: [{ id: 'ann' }] })
  })

  test('a group gets its ticket after a restart, though the clock was set back before', async () => {
    const own = { clock: createManualClock(), idleMs: 300_000, mostGroups: 10, isAlive: () => true }
    const groups = createGroupStore(own)
    const { clock, service, call, group, ann } = await gather({ groups })
    const create = service.createTicket
    Object.assign(service, { createTicket: () => new Promise(() => {}) })
    void call('ann', 'PATCH', `${group}/members/${ann.member_id}`, { is_ready: true })
    await new Promise((resolve) => setImmediate(resolve))
    Object.assign(service, { createTicket: create })
    await clock.advance(10_000)
    const behind = createManualClock({ start: clock.now() - 7_200_000 })
    const next = createTicketApi(service, { authenticate: () => ({ id: 'ann' }), clock: behind, groups })
    const answer = await next(new Request(`http://localhost${group}`), { remoteAddress: '192.0.2.1' })
    expect(await answer.json()).toMatchObject({ status: 'SEARCHING' })
  })

  test('a group whose ticket is refused after a restart waits for its members to be ready again', async () => {
    const { clock, service, call, group, ann, join, ready } = await gather()
    const bob = await join('bob')
    await ready('bob', bob)
    const create = service.createTicket
    Object.assign(service, { createTicket: () => new Promise(() => {}) })
    void ready('ann', ann)
    await new Promise((resolve) => setImmediate(resolve))
    await clock.advance(10_000)
    const refusing = (error: Error) =>
      Object.assign(service, {
        createTicket: () => {
          throw error
        },
      })
    refusing(new Unavailable('Redis is away'))
    expect(await call('ann', 'GET', group)).toMatchObject({ status: 503 })
    refusing(new PlayerBusy('bob', 'another'))
    expect((await call('ann', 'GET', group)).json).toMatchObject({
      status: 'FORMING',
      members: [{ is_ready: false }, { is_ready: false }],
    })
    Object.assign(service, { createTicket: create })
    await ready('bob', bob)
    expect((await ready('ann', ann)).json).toMatchObject({ status: 'SEARCHING' })
  })

  test('if the response of a ticket creation is lost, the group follows that ticket and admits nobody', async () => {
    const { service, call, group, ann, join, ready } = await gather()
    const bob = await join('bob')
    await ready('bob', bob)
    const create = service.createTicket
    Object.assign(service, {
      createTicket: (input: Parameters<typeof create>[0]) => {
        create(input)
        throw new Unavailable('the connection was lost after the write')
      },
    })
    expect(await ready('ann', ann)).toMatchObject({ status: 503 })
    expect((await call('eve', 'POST', `${group}/members`, { profile: 'duel' })).json).toMatchObject({
      code: 'already-searching',
    })
    service.change(ann.group_id, { status: 'MATCH_FOUND' })
    expect((await call('bob', 'GET', group)).json).toMatchObject({ status: 'MATCH_FOUND' })
  })

  test('a searching group is removed if its ticket no longer exists', async () => {
    const { clock, service, call, group, ann, ready } = await gather()
    await ready('ann', ann)
    Object.assign(service, { getTicket: () => undefined })
    await clock.advance(60_000)
    expect(await call('ann', 'GET', group)).toMatchObject({ status: 404, json: { code: 'no-such-group' } })
  })
})
