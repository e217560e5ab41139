import { describe, expect, test } from 'vitest'
import { openConsole } from './open-console.fixture.js'

async function open(options?: Parameters<typeof openConsole>[0]) {
  const world = await openConsole(options)
  const join = (id: string) =>
    world.matchmaker.createTicket({
      id,
      queue: 'duel',
      players: [{ id: `player-${id}`, ip: '198.51.100.7', attributes: { skill: 0 } }],
    })
  const post = (path: string, token = 'operator', body?: unknown) =>
    world.ask(`/console/api/${path}`, { method: 'POST', token, body })
  world.matchmaker.start()
  return { ...world, join, post }
}

const all = [
  ['tickets/ann/cancel', undefined],
  ['matches/m/stop', undefined],
  ['queues/duel/pause', undefined],
  ['queues/duel/resume', undefined],
  ['players/player-ann/forgive', undefined],
  ['bots', { players: 5 }],
] as const

describe('an operator in the console', () => {
  test('a console operator can cancel a ticket, which is logged', async () => {
    const { post, join, matchmaker, acts, clock } = await open()
    join('ann')
    expect((await post('tickets/ann/cancel')).status).toBe(204)
    expect(matchmaker.getTicket('ann')?.status).toBe('CANCELLED')
    expect(acts).toEqual([{ who: 'olga', what: 'cancel-ticket', id: 'ann' }])
    expect(await post('tickets/nobody/cancel')).toMatchObject({ status: 404 })
    join('ben')
    join('cem')
    await clock.advance(10_000)
    expect(await post('tickets/ben/cancel')).toMatchObject({ status: 409, body: { code: 'too-late' } })
    expect(acts).toHaveLength(1)
  })

  test('a console operator can stop a match without waiting for the deployment service', async () => {
    const { post, join, matchmaker, acts, clock, service } = await open()
    join('ann')
    join('ben')
    await clock.advance(10_000)
    const { matchId = '' } = matchmaker.getTicket('ann') ?? {}
    expect((await post(`matches/${matchId}/stop`)).status).toBe(204)
    expect(acts).toEqual([{ who: 'olga', what: 'stop-match', id: matchId }])
    await clock.advance(10_000)
    expect(service.count()).toBe(0)
    expect((await post('matches/nothing/stop')).status).toBe(404)
    expect(acts).toHaveLength(1)
  })

  test('a console operator can pause and resume a queue', async () => {
    const { post, join, matchmaker, acts, clock } = await open()
    expect((await post('queues/duel/pause')).status).toBe(204)
    join('ann')
    join('ben')
    await clock.advance(5000)
    expect(matchmaker.getTicket('ann')?.status).toBe('SEARCHING')
    expect((await post('queues/duel/resume')).status).toBe(204)
    await clock.advance(1000)
    expect(matchmaker.getTicket('ann')?.status).toBe('MATCH_FOUND')
    expect(acts.map(({ what, id }) => `${what} ${id}`)).toEqual(['pause-queue duel', 'resume-queue duel'])
    expect((await post('queues/nothing/pause')).status).toBe(404)
  })

  test('a console operator can forgive a cooldown by the action that the story of the player offers', async () => {
    const cooled = {
      name: 'duel',
      matchSize: 2,
      deploy: { application: 'game', version: '1' },
      acceptance: { withinMs: 5000 },
      cooldown: {},
    }
    const { ask, post, join, matchmaker, acts, clock } = await open({ queues: [cooled] })
    join('ann')
    join('ben')
    await clock.advance(1000)
    matchmaker.declineMatch('ann', 'player-ann')
    const again = () => matchmaker.createTicket({ queue: 'duel', players: [{ id: 'player-ann', ip: '198.51.100.7' }] })
    expect(again).toThrow()
    const story = async () => (await ask('/console/api/find?id=player-ann', { token: 'looker' })).body
    expect(await story()).toMatchObject({
      stories: [{ state: expect.stringContaining('may not wait again for'), actions: ['forgive-cooldown'] }],
    })
    expect((await post('players/player-ann/forgive')).status).toBe(204)
    expect(await story()).toMatchObject({ stories: [{ actions: [] }] })
    expect(again().status).toBe('SEARCHING')
    expect(acts).toEqual([{ who: 'olga', what: 'forgive-cooldown', id: 'player-ann' }])
  })

  test('a console operator can start bots if the server has some', async () => {
    const let_in: number[] = []
    const { post, acts } = await open({ letBotsIn: (players) => void let_in.push(players) })
    expect((await post('bots', 'operator', { players: 50 })).status).toBe(202)
    for (const players of [0, 10_001, 1.5, '5', null]) {
      expect((await post('bots', 'operator', { players })).status).toBe(400)
    }
    expect(let_in).toEqual([50])
    expect(acts).toEqual([{ who: 'olga', what: 'let-bots-in', id: '50' }])
    expect(await (await open()).post('bots', 'operator', { players: 5 })).toMatchObject({ status: 404 })
  })
})

test.each(all)('a console caller with the role look is refused: %s', async (path, body) => {
  const { post, acts, join, matchmaker } = await open({ letBotsIn: () => {} })
  join('ann')
  expect(await post(path, 'looker', body)).toMatchObject({ status: 403, body: { code: 'not-permitted' } })
  expect((await post(path, 'guessed', body)).status).toBe(401)
  expect(acts).toEqual([])
  expect(matchmaker.getTicket('ann')?.status).toBe('SEARCHING')
})

test.each(all)('a page of another site cannot operate the console: %s', async (path, body) => {
  const { ask, acts } = await open()
  const from = [{ 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.example' }, { host: 'evil.example' }]
  for (const headers of from) {
    const { status } = await ask(`/console/api/${path}`, {
      method: 'POST',
      token: 'operator',
      body,
      headers: headers as unknown as Record<string, string>,
    })
    expect([403, 421]).toContain(status)
  }
  expect(acts).toEqual([])
})

test('the console’s own page may operate, under any host name that is served', async () => {
  const { ask, acts, port } = await open({ hosts: ['mm.example.com'] })
  const from = [
    { 'sec-fetch-site': 'same-origin', origin: `http://127.0.0.1:${port}` },
    { origin: 'https://mm.example.com', host: '127.0.0.1' },
    { origin: 'https://mm.example.com', host: 'mm.example.com', 'sec-fetch-site': 'same-origin' },
  ]
  for (const headers of from) {
    const { status } = await ask('/console/api/queues/duel/pause', { method: 'POST', token: 'operator', headers })
    expect(status).toBe(204)
  }
  expect(acts).toHaveLength(3)
})
