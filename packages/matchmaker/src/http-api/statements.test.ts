import { bearerToken } from '@muster/core/http'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { deploy } from '../matchmaker.fixture.js'
import type { QueueDefinition } from '../queues/queue.js'
import { setUpReal } from './ticket-api.fixture.js'

const skill = { kind: 'difference', attribute: 'skill', max: 100, missing: { value: 1000 } } as const
const ranked: QueueDefinition = {
  name: 'ranked',
  matchSize: 4,
  rules: [
    skill,
    { kind: 'roles', roles: { tank: 1 } },
    { kind: 'avoid' },
    { kind: 'latency', maxMs: 80, missing: 'any' },
  ],
  deploy,
}
const casual: QueueDefinition = { name: 'casual', matchSize: 4, deploy }
const open: QueueDefinition = { ...ranked, name: 'open', playerMayState: ['skill', 'roles', 'avoid', 'latencies'] }
const queues = [ranked, casual, open]

/** Bodies that state something which a rule of `ranked` compares, with the field that the refusal names. */
const forged = [
  ['attributes.skill', { attributes: { skill: 9000 } }],
  ['attributes.skill', { attributes: { skill: 'x' } }],
  ['roles', { roles: ['tank'] }],
  ['avoid', { avoid: ['bob'] }],
  ['attributes.beacons', { attributes: { beacons: { Oslo: 1 } } }],
] as const

describe('an attribute that a rule compares', () => {
  test.each(forged)('an attribute that a rule compares is refused from a player: %s in %j', async (field, more) => {
    const { call, service } = setUpReal(queues)
    const refused = { status: 400, json: { code: 'not-believed', field } }
    expect(await call('ann', 'POST', '/tickets', { profile: 'ranked', ...more })).toMatchObject(refused)
    expect(await call('ann', 'POST', '/tickets', { profiles: ['casual', 'ranked'], ...more })).toMatchObject(refused)
    expect(await call('ann', 'POST', '/groups', { profile: 'ranked', ...more })).toMatchObject(refused)
    const { json } = await call('bob', 'POST', '/groups', { profile: 'ranked', is_ready: false })
    const members = `/groups/${(json as { group_id: string }).group_id}/members`
    expect(await call('ann', 'POST', members, { profile: 'ranked', ...more })).toMatchObject(refused)
    expect(service.inspect().queues.map(({ players }) => players)).toEqual([0, 0, 0])
  })

  test.each(forged)(
    'an attribute that a rule compares is accepted from a backend, and from a player if the queue allows it: %s in %j',
    async (_, more) => {
      const { call } = setUpReal(queues)
      const status = more === forged[1][1] ? 400 : 201
      expect(await call('ann', 'POST', '/tickets', { profile: 'open', ...more })).toMatchObject({ status })
      const body = { profile: 'ranked', player_id: 'bob', player_ip: '203.0.113.7', ...more }
      expect(await call('backend', 'POST', '/tickets', body)).toMatchObject({ status })
      const party = {
        player_tickets: [
          { ...body, player_id: 'cleo' },
          { ...body, player_id: 'dan' },
        ],
      }
      expect(await call('backend', 'POST', '/group-tickets', party)).toMatchObject({ status })
      const { json } = await call('backend', 'POST', '/tickets/batch', { tickets: [{ ...body, player_id: 'eve' }] })
      expect((json as { results: object[] }).results[0]).toHaveProperty(status === 201 ? 'ticket' : 'error')
    },
  )

  test('a refused attribute of a player is answered without its value, with the setting that allows it', async () => {
    const { call } = setUpReal(queues)
    const { json } = await call('ann', 'POST', '/tickets', { profile: 'ranked', attributes: { skill: 4242 } })
    expect((json as { message: string }).message).toBe(
      'attributes.skill: players may not set it in queue "ranked", unless its playerMayState lists "skill"',
    )
  })
})

test('attributes that no rule compares are accepted, and latencies of failed pings are ignored', async () => {
  const { call, service } = setUpReal(queues)
  const body = {
    profile: 'casual',
    attributes: { skill: 1, hat: 'red', beacons: { Oslo: 12 } },
    roles: ['tank'],
    avoid: ['bob'],
  }
  expect((await call('ann', 'POST', '/tickets', body)).status).toBe(201)
  expect(
    (await call('bob', 'POST', '/tickets', { profile: 'ranked', attributes: { hat: 'red', beacons: { Oslo: 0 } } }))
      .status,
  ).toBe(201)
  expect(
    (await call('cleo', 'POST', '/tickets', { profile: 'ranked', attributes: null, roles: [], avoid: [] })).status,
  ).toBe(201)
  expect(service.exportTickets().tickets.map(({ players: [player] }) => player?.attributes)).toEqual([
    { skill: 1, hat: 'red' },
    { hat: 'red' },
    {},
  ])
})

test('an unknown queue is refused before any attribute, with the nearest known name', async () => {
  const asked: string[] = []
  const { call } = setUpReal(queues, { profile: (ids) => new Map(ids.map((id) => [(asked.push(id), id), {}])) })
  const refused = {
    status: 400,
    json: { code: 'unknown-profile', message: 'There is no queue "rankd"; did you mean ranked?' },
  }
  expect(await call('ann', 'POST', '/tickets', { profile: 'rankd', attributes: { skill: 1 } })).toMatchObject(refused)
  expect(await call('ann', 'POST', '/groups', { profile: 'rankd', attributes: { skill: 1 } })).toMatchObject(refused)
  expect(asked).toEqual([])
  // This API calls a queue a profile.
  expect(await call('ann', 'POST', '/tickets', { queue: 'ranked' })).toMatchObject({
    status: 400,
    json: { message: 'queue: is not known; did you mean profile?' },
  })
})

describe('the claims in the token of a player', () => {
  const claims = { attributes: { skill: 1500, clan: 'red' }, roles: ['tank'], avoid: ['eve'] }
  const knowing = { authenticate: (request: Request) => ({ id: bearerToken(request) ?? '', profile: claims }) }

  test('claims in a player’s token override the request body, and add to the players to avoid', async () => {
    const { call, service } = setUpReal(queues, knowing)
    const body = { profile: 'open', attributes: { skill: 9000, hat: 'blue' }, roles: ['healer'], avoid: ['bob', 'eve'] }
    // An attribute missing from the list is refused even if no rule compares it.
    expect(await call('ann', 'POST', '/tickets', body)).toMatchObject({
      status: 400,
      json: { field: 'attributes.hat' },
    })
    await call('ann', 'POST', '/tickets', { ...body, attributes: { skill: 9000 } })
    expect(service.exportTickets().tickets[0]?.players[0]).toMatchObject({ ...claims, avoid: ['bob', 'eve'] })
  })

  test('claims in a player’s token override the resolved profile, even for members of groups', async () => {
    const profile = () => new Map([['ann', { attributes: { skill: 1, rank: 3 }, roles: ['healer'], avoid: ['dan'] }]])
    const { call, service } = setUpReal(queues, { ...knowing, profile })
    await call('ann', 'POST', '/groups', { profile: 'ranked' })
    expect(service.exportTickets().tickets[0]?.players[0]).toMatchObject({
      attributes: { skill: 1500, clan: 'red', rank: 3 },
      roles: ['tank'],
      avoid: ['dan', 'eve'],
    })
  })
})

test('a request body of a player never sets an attribute that a rule compares', async () => {
  const known = { attributes: { skill: 1500 }, roles: ['tank'], avoid: ['eve'] }
  const value = fc.oneof(
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.stringMatching(/^\w{1,20}$/),
    { arbitrary: fc.constantFrom<unknown>(null, Number.NaN, '', [], ['ann'], { skill: 9000 }), weight: 1 },
  )
  const name = fc.constantFrom('skill', 'Skill', 'skill ', 'hat', 'beacons', 'constructor', 'toString')
  /** Generates a value rarely, because most bodies with such a key are refused. */
  const rarely = <T>(arbitrary: fc.Arbitrary<T>) =>
    fc.oneof({ arbitrary: fc.constant(undefined), weight: 9 }, { arbitrary, weight: 1 })
  const queue = fc.constantFrom(...Array<string>(8).fill('ranked'), 'casual', ' ranked', 'nowhere')
  const body = fc.record({
    profile: fc.option(queue, { nil: undefined, freq: 9 }),
    profiles: rarely(fc.uniqueArray(queue, { minLength: 1, maxLength: 2 })),
    attributes: fc.dictionary(name, value, { minKeys: 1, maxKeys: 2 }),
    roles: rarely(fc.array(fc.constantFrom('tank', 'healer'), { maxLength: 2 })),
    avoid: rarely(fc.array(fc.constantFrom('bob', 'eve'), { maxLength: 2 })),
    player_id: rarely(fc.constant('someone')),
    profile_: rarely(fc.constant({})),
  })
  let reached = 0
  await fc.assert(
    fc.asyncProperty(body, fc.boolean(), fc.boolean(), async (sent, isKnown, isGroup) => {
      const { call, service, errors } = setUpReal(queues, {
        limits: { perCaller: null, perAddress: null },
        ...(isKnown ? { profile: (ids) => new Map(ids.map((id) => [id, known])) } : {}),
      })
      const { status } = await call('ann', 'POST', isGroup ? '/groups' : '/tickets', sent)
      expect([201, 400, 403]).toContain(status)
      expect(errors).toEqual([])
      for (const { queues: names, players } of service.exportTickets().tickets) {
        if (!names.includes('ranked')) continue
        reached += 1
        const [{ attributes, roles, avoid, latencies }] = players as [(typeof players)[0]]
        expect([attributes?.['skill'], roles, avoid, latencies]).toEqual(
          isKnown ? [1500, ['tank'], ['eve'], {}] : [undefined, [], [], {}],
        )
      }
    }),
    { numRuns: 100 },
  )
  expect(reached).toBeGreaterThan(5)
})
