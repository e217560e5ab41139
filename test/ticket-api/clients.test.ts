import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, test } from 'vitest'
import { nothingLeft, until } from '../matchmaker/studio.js'
import { openCounter, placeOf, type Ticket } from './counter.js'

const solo = { profile: 'duel', attributes: {} }
const deploy = { application: 'game', version: '1', readyTimeoutMs: 4000 }
const duelWith = (more: object) => ({ matchmaker: { queues: [{ name: 'duel', matchSize: 2, deploy, ...more }] } })

describe.concurrent('game clients of the ticket API', () => {
  test('game clients use monitor, beacons and tickets, and poll for the server, as in existing games', async () => {
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

  test('game clients form one ticket in a group, and each client reads its own part', async () => {
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

  test('game clients receive events by stream as they happen, and resume after a break', async () => {
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
})

describe.concurrent('game servers and backends that use the ticket API', () => {
  test('a server or backend replaces a leaver by a backfill with the tickets that are still present', async () => {
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

    // Repeat this when only the player who joined later is left.
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
})

test('the OpenAPI document of the ticket API is valid', async () => {
  const { call, shut } = await openCounter()
  const { valid, errors } = await new Validator().validate(
    await call<Record<string, unknown>>('ann', 'GET', '/openapi.json'),
  )
  expect(errors).toBeUndefined()
  expect(valid).toBe(true)
  expect(await shut()).toEqual(nothingLeft)
})
