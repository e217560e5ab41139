import { describe, expect, test } from 'vitest'
import { nothingLeft, until } from '../matchmaker/studio.js'
import { openCounter, placeOf, type Ticket } from './counter.js'

const deploy = { application: 'game', version: '1', readyTimeoutMs: 4000 }
const teams = [{ name: 'side', count: 2, size: 2 }]
const player = (id: string) => ({ player_id: id, player_ip: `203.0.113.${id.charCodeAt(0)}` })
const body = {
  id: 'final',
  profile: 'teams',
  teams: [
    { name: 'side-1', players: [player('ann'), player('bob')] },
    { name: 'side-2', players: [player('cem')] },
  ],
}
interface Made {
  readonly player_tickets: readonly (Ticket & { readonly player_id: string })[]
}

describe.concurrent('a backend', () => {
  test('makes a match of given players, whose first server fails, and whose last player ends it', async () => {
    const studio = {
      matchmaker: { queues: [{ name: 'teams', teams, deploy }], maxServers: 1 },
      emulator: { faults: [{ operation: 'deployments.create', nth: [1], deployment: 'error' }] },
    } as const
    const { call, request, deployments, emulator, untilStatus, shut } = await openCounter({ studio })
    const { player_tickets } = await call<Made>('backend', 'POST', '/matches', body)
    expect(player_tickets.map(({ player_id }) => player_id)).toEqual(['ann', 'bob', 'cem'])
    expect((await request('ann', 'POST', '/tickets', { profile: 'teams' })).status).toBe(409)
    const assigned = await Promise.all(
      player_tickets.map(({ player_id, id }) => untilStatus(player_id, id, 'HOST_ASSIGNED')),
    )
    const [ann, bob, cem] = assigned
    expect(assigned.map(({ team_id }) => team_id)).toEqual(['side-1', 'side-1', 'side-2'])
    const [first, ...others] = [ann, bob, cem].map((ticket) => placeOf({ assignment: ticket?.assignment ?? null }))
    expect(others).toEqual([first, first])
    expect(deployments().map(({ current_status }) => current_status)).toHaveLength(2)
    const running = deployments().find(({ current_status }) => current_status === 'Status.READY')
    expect(emulator.environment(running?.request_id ?? '')?.['MM_TEAMS']).toBe(
      '{"side-1":["final-1"],"side-2":["final-2"]}',
    )
    const again = await call<Made>('backend', 'POST', '/matches', body)
    expect(again.player_tickets.map(({ status }) => status)).toEqual(Array.from({ length: 3 }, () => 'HOST_ASSIGNED'))
    const everybody = { player_ids: ['ann', 'bob', 'cem'] }
    await call('backend', 'POST', `/matches/${ann?.match_id}/players-left`, everybody, 204)
    await until('both servers have ended', () =>
      deployments().every(({ current_status }) => current_status === 'Status.TERMINATED'),
    )
    expect(await shut()).toEqual(nothingLeft)
  })

  test('pauses a profile; who declines there later may not wait until forgiven', async () => {
    const queues = [
      { name: 'duel', matchSize: 2, deploy, acceptance: { withinMs: 20_000 }, cooldown: { firstMs: 600_000 } },
    ]
    const { call, request, untilStatus, matchmaker, shut } = await openCounter({ studio: { matchmaker: { queues } } })
    const solo = { profile: 'duel' }
    await call('backend', 'POST', '/queues/duel/pause', undefined, 204)
    const ann = await call<Ticket>('ann', 'POST', '/tickets', solo)
    const bob = await call<Ticket>('bob', 'POST', '/tickets', solo)
    await matchmaker.tick()
    expect(await call('ann', 'GET', `/tickets/${ann.id}/explain`)).toMatchObject({ summary: 'The queue is paused.' })
    await call('backend', 'POST', '/queues/duel/resume', undefined, 204)
    await untilStatus('ann', ann.id, 'MATCH_FOUND')
    await call('ann', 'DELETE', `/tickets/${ann.id}`, undefined, 204)
    const refused = await request('ann', 'POST', '/tickets', solo)
    expect([refused.status, Number(refused.headers.get('retry-after')) > 590]).toEqual([409, true])
    await refused.body?.cancel()
    expect(await call('bob', 'GET', `/tickets/${bob.id}`)).toMatchObject({ status: 'SEARCHING' })
    expect(await call('backend', 'GET', '/players/ann/cooldown')).toMatchObject({ cooldowns: [{ offences: 1 }] })
    await call('backend', 'DELETE', '/players/ann/cooldown', undefined, 204)
    const again = await call<Ticket>('ann', 'POST', '/tickets', solo)
    await untilStatus('bob', bob.id, 'MATCH_FOUND')
    for (const [who, { id }] of [
      ['ann', again],
      ['bob', bob],
    ] as const)
      await call(who, 'POST', `/tickets/${id}/accept`, undefined, 200)
    await untilStatus('ann', again.id, 'HOST_ASSIGNED')
    expect(await shut()).toEqual(nothingLeft)
  })
})
