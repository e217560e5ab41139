import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, test } from 'vitest'
import { nothingLeft, until } from '../matchmaker/studio.js'
import { openCounter, placeOf, type Ticket } from './counter.js'

const solo = { profile: 'duel', attributes: {} }
const deploy = { application: 'game', version: '1', readyTimeoutMs: 4000 }
const duelWith = (more: object) => ({ matchmaker: { queues: [{ name: 'duel', matchSize: 2, deploy, ...more }] } })

describe.concurrent('clients of the ticket API', () => {
  test('of the existing kind use monitor, beacons and tickets, and poll for the server', async () => {
    const { call, request, emulator, deployments, untilStatus, shut } = await openCounter()
    expect(await call('ann', 'GET', '/monitor')).toMatchObject({ status: 'healthy' })
    const { count, beacons } = await call<{
      count: number
      beacons: { public_ip: string; location: { city: string } }[]
    }>('ann', 'GET', '/locations/beacons')
    expect([
      beacons.length,
      beacons.every(({ public_ip, location }) => public_ip !== '' && location.city !== ''),
    ]).toEqual([count, true])
    const measured = Object.fromEntries(beacons.slice(0, 3).map(({ location }) => [location.city, 40]))
    const ann = await call<Ticket>('ann', 'POST', '/tickets', {
      profile: 'duel',
      attributes: { beacons: measured, skill: 1 },
      player_ip: null,
    })
    const bob = await call<Ticket>('bob', 'POST', '/tickets', solo)
    const [first, second] = await Promise.all([
      untilStatus('ann', ann.id, 'HOST_ASSIGNED'),
      untilStatus('bob', bob.id, 'HOST_ASSIGNED'),
    ])
    expect(placeOf(first)).toEqual(placeOf(second))
    expect(first.assignment?.join_token).not.toBe(second.assignment?.join_token)
    const [server] = deployments()
    expect(first.assignment?.ports['game']?.link).toBe(server?.ports?.['game']?.link)
    expect(emulator.environment(server?.request_id ?? '')?.['MM_TICKET_IDS']).toBe(JSON.stringify([ann.id, bob.id]))
    expect((await request('ann', 'DELETE', `/tickets/${ann.id}`)).status).toBe(409)
    await call('backend', 'DELETE', `/matches/${first.match_id}`, undefined, 202)
    await until('the server has ended', () => deployments()[0]?.current_status === 'Status.TERMINATED')
    expect(await shut()).toEqual(nothingLeft)
  })

  test('in a group form one ticket, of which each has their own view', async () => {
    const { call, untilStatus, matchmaker, shut } = await openCounter({ studio: duelWith({ matchSize: 3 }) })
    const alone = await call<{ group_id: string; ticket_id: string }>('cleo', 'POST', '/groups', {
      ...solo,
      is_ready: true,
    })
    const ann = await call<{ group_id: string; member_id: string }>('ann', 'POST', '/groups', {
      ...solo,
      is_ready: false,
    })
    await call('bob', 'POST', `/groups/${ann.group_id}/members`, { ...solo, is_ready: true })
    const member = `/groups/${ann.group_id}/members/${ann.member_id}`
    const { ticket_id } = await call<{ ticket_id: string }>('ann', 'PATCH', member, { is_ready: true })
    expect(matchmaker.getTicket(ann.group_id)?.players).toEqual([{ id: 'ann' }, { id: 'bob' }])
    const assigned = await untilStatus('ann', ticket_id, 'HOST_ASSIGNED')
    expect(await call('ann', 'GET', member)).toMatchObject({ status: 'HOST_ASSIGNED', assignment: placeOf(assigned) })
    expect(await call('cleo', 'GET', `/groups/${alone.group_id}`)).toMatchObject({ assignment: placeOf(assigned) })
    expect(await shut()).toEqual(nothingLeft)
  })

  test('that stream receive events as they happen, and resume after a break', async () => {
    const { api, url, call, request, shut } = await openCounter()
    const ann = await call<Ticket>('ann', 'POST', '/tickets', solo)
    const leaving = new AbortController()
    const broken = await fetch(`${url}/tickets/${ann.id}/events`, {
      headers: { authorization: 'ann' },
      signal: leaving.signal,
    })
    const reader = (broken.body as ReadableStream<Uint8Array>).getReader()
    let seen = ''
    while (!seen.includes('SEARCHING')) seen += new TextDecoder().decode((await reader.read()).value)
    expect(api.counts().waiting).toBe(1)
    leaving.abort()
    await reader.closed.catch(() => {})
    await until('nobody waits', () => api.counts().waiting === 0)
    await call('bob', 'POST', '/tickets', solo)
    const version = /^id: (\d+)/m.exec(seen)?.[1] ?? ''
    const resumed = await request('ann', 'GET', `/tickets/${ann.id}/events`, undefined, { 'last-event-id': version })
    const statuses = [...(await resumed.text()).matchAll(/"status":"(\w+)"/g)].map((match) => match[1])
    expect([statuses.includes('SEARCHING'), statuses.at(-1)]).toEqual([false, 'HOST_ASSIGNED'])
    expect(
      (await request('ann', 'GET', `/tickets/${ann.id}/events`, undefined, { 'last-event-id': '999' })).status,
    ).toBe(200)
    expect(await shut()).toEqual(nothingLeft)
  })

  test('that are asked to accept can accept and decline', async () => {
    const { call, request, untilStatus, shut } = await openCounter({
      studio: duelWith({ acceptance: { withinMs: 20_000 } }),
    })
    const [ann, bob, cleo] = (await Promise.all(
      ['ann', 'bob', 'cleo'].map((who) => call<Ticket>(who, 'POST', '/tickets', solo)),
    )) as [Ticket, Ticket, Ticket]
    await untilStatus('ann', ann.id, 'MATCH_FOUND')
    expect((await request('cleo', 'POST', `/tickets/${cleo.id}/accept`)).status).toBe(409)
    await call('ann', 'POST', `/tickets/${ann.id}/accept`, undefined, 200)
    expect(await call('bob', 'POST', `/tickets/${bob.id}/decline`, undefined, 200)).toMatchObject({
      status: 'CANCELLED',
      cancel_reason: 'declined',
    })
    await untilStatus('cleo', cleo.id, 'MATCH_FOUND')
    for (const [who, { id }] of [
      ['ann', ann],
      ['cleo', cleo],
    ] as const)
      await call(who, 'POST', `/tickets/${id}/accept`, undefined, 200)
    expect((await untilStatus('ann', ann.id, 'HOST_ASSIGNED')).assignment).not.toBeNull()
    expect(await shut()).toEqual(nothingLeft)
  })

  test('that wait can read an explanation and cancel', async () => {
    const rules = [{ kind: 'difference', attribute: 'skill', max: 10 }]
    const { call, shut } = await openCounter({ studio: duelWith({ rules, playerMayState: ['skill'] }) })
    const ann = await call<Ticket>('ann', 'POST', '/tickets', { ...solo, attributes: { skill: 100 } })
    await call('bob', 'POST', '/tickets', { ...solo, attributes: { skill: 150 } })
    expect(await call('ann', 'GET', `/tickets/${ann.id}/explain`)).toMatchObject({
      ticket_id: ann.id,
      waiting_for: 'players',
      summary: 'Fewer than 5 others wait.',
    })
    expect(await call('backend', 'GET', `/tickets/${ann.id}/explain`)).toMatchObject({
      queues: [{ queue: 'duel', others: 1, compatible: 0, nearest: { value: 50, limit: 10, gap: 40 } }],
    })
    expect(await call('cleo', 'POST', '/tickets', solo, 400)).toMatchObject({ status: 400, field: 'attributes.skill' })
    await call('ann', 'DELETE', `/tickets/${ann.id}`, undefined, 204)
    expect(await call('ann', 'GET', `/tickets/${ann.id}`)).toMatchObject({
      status: 'CANCELLED',
      cancel_reason: 'cancelled',
    })
    expect(await shut()).toEqual(nothingLeft)
  })
})

describe.concurrent('game servers and backends', () => {
  test('replace a leaver by a backfill with the tickets that are still present', async () => {
    const { call, untilStatus, matchmaker, shut } = await openCounter()
    const party = await call<{ player_tickets: Ticket[] }>('backend', 'POST', '/group-tickets', {
      player_tickets: ['ann', 'bob'].map((player_id) => ({ ...solo, player_id, player_ip: '203.0.113.9' })),
    })
    const [ann] = party.player_tickets as [Ticket, Ticket]
    const { match_id, assignment } = await untilStatus('ann', ann.id, 'HOST_ASSIGNED')
    const present = await call<Ticket>('ann', 'GET', `/tickets/${ann.id}`)
    const backfill = await call<{ id: string; match_id: string; version: number }>('backend', 'POST', '/backfills', {
      profile: 'duel',
      attributes: { assignment },
      tickets: { [ann.id]: present },
    })
    expect(backfill).toMatchObject({ match_id, status: 'SEARCHING', assigned_ticket: null })
    const cleo = await call<Ticket>('cleo', 'POST', '/tickets', solo)
    expect(placeOf(await untilStatus('cleo', cleo.id, 'HOST_ASSIGNED'))).toEqual(placeOf({ assignment }))
    expect(await call('backend', 'GET', `/backfills/${backfill.id}`)).toMatchObject({
      status: 'ASSIGNED',
      assigned_ticket: { id: cleo.id, player_id: 'cleo' },
    })
    expect(matchmaker.inspect().matches[0]?.playerIds.toSorted()).toEqual(['ann', 'cleo'])

    // And again, when only the player who joined later is left.
    const later = await call<Ticket>('cleo', 'GET', `/tickets/${cleo.id}`)
    expect(
      await call('backend', 'POST', '/backfills', {
        profile: 'duel',
        attributes: { assignment },
        tickets: { [cleo.id]: later },
      }),
    ).toMatchObject({ match_id, status: 'SEARCHING' })
    expect(matchmaker.inspect().matches[0]?.playerIds).toEqual(['cleo'])
    expect(await shut()).toEqual(nothingLeft)
  })

  test('report that they are ready', async () => {
    const queues = [{ name: 'duel', matchSize: 2, deploy: { ...deploy, probe: { kind: 'registration' as const } } }]
    const { call, request, emulator, deployments, untilStatus, shut } = await openCounter({
      studio: { matchmaker: { queues } },
    })
    const ann = await call<Ticket>('ann', 'POST', '/tickets', solo)
    const bob = await call<Ticket>('bob', 'POST', '/tickets', solo)
    const { match_id } = await untilStatus('ann', ann.id, 'MATCH_FOUND')
    await until('the server is READY', () => deployments()[0]?.current_status === 'Status.READY')
    const secret = emulator.environment(deployments()[0]?.request_id ?? '')?.['MM_REGISTRATION_SECRET'] ?? ''
    expect((await request('a guess', 'POST', '/server-ready', { match_id })).status).toBe(403)
    expect(await call<Ticket>('ann', 'GET', `/tickets/${ann.id}`)).toMatchObject({ status: 'MATCH_FOUND' })
    await call(secret, 'POST', '/server-ready', { match_id }, 204)
    expect((await untilStatus('bob', bob.id, 'HOST_ASSIGNED')).assignment).not.toBeNull()
    expect(await shut()).toEqual(nothingLeft)
  })

  test('create many tickets at once, and list the waiting ones', async () => {
    const { call, shut } = await openCounter({ api: { inspect: true }, studio: duelWith({ matchSize: 50 }) })
    const tickets = Array.from({ length: 40 }, (_, index) => ({
      ...solo,
      player_id: `p${index}`,
      player_ip: `203.0.113.${index}`,
    }))
    const { results } = await call<{ results: { ticket?: Ticket; error?: { code: string } }[] }>(
      'backend',
      'POST',
      '/tickets/batch',
      { tickets: [...tickets, tickets[0]] },
      200,
    )
    expect([results.filter(({ ticket }) => ticket !== undefined).length, results[40]?.error?.code]).toEqual([
      40,
      'player-busy',
    ])
    expect(await call('backend', 'GET', '/inspect/tickets?limit=3')).toMatchObject({
      total: 40,
      tickets: [{ player_id: 'p0' }, { player_id: 'p1' }, { player_id: 'p2' }],
      queues: [{ name: 'duel', players: 40 }],
    })
    expect(await call('backend', 'GET', '/inspect/matches')).toEqual({ matches: [] })
    expect(await shut()).toEqual(nothingLeft)
  })
})

test('the OpenAPI document of the API is valid', async () => {
  const { call, shut } = await openCounter()
  const { valid, errors } = await new Validator().validate(
    await call<Record<string, unknown>>('ann', 'GET', '/openapi.json'),
  )
  expect(errors).toBeUndefined()
  expect(valid).toBe(true)
  expect(await shut()).toEqual(nothingLeft)
})
