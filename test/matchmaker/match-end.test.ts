/** Tests what clients learn about the end of their match, without webhooks and on a manual clock. */
import { createClient, inProcess } from '@muster/core'
import { createManualClock, seededRandom } from '@muster/core/clock'
import { createEmulator } from '@muster/emulator'
import { createMatchmaker, createTicketApi, PlayerPlaying } from '@muster/matchmaker'
import { describe, expect, test } from 'vitest'
import { publishGame } from './game.js'
import { duel } from './studio.js'

async function open() {
  const clock = createManualClock()
  /** Functions that end the process of each server with an exit code. */
  const exits: ((code: number) => void)[] = []
  const emulator = createEmulator({
    clock,
    token: 'dev',
    launch: () => ({
      exited: new Promise<number>((resolve) => exits.push(resolve)),
      stop: () => {},
      logs: () => '',
    }),
  })
  const dispatcher = inProcess(emulator.fetch)
  const client = createClient({ baseUrl: 'http://emulator', token: 'dev', clock, dispatcher })
  await clock.until(publishGame(client))
  const matchmaker = createMatchmaker({
    deployments: client.deployments,
    queues: [{ ...duel, deploy: { ...duel.deploy, readyTimeoutMs: 180_000 } }],
    clock,
    random: seededRandom(3),
  })
  const api = createTicketApi(matchmaker, {
    authenticate: (request) => ({ id: request.headers.get('authorization') ?? '' }),
    address: () => '192.0.2.1',
    clock,
  })
  matchmaker.start()
  const join = (id: string) => matchmaker.createTicket({ queue: 'duel', players: [{ id, ip: '192.0.2.1' }] })
  const ask = (who: string, path: string) =>
    api(new Request(`http://muster${path}`, { headers: { authorization: who } }), { remoteAddress: undefined })
  const [ann, ben] = [join('ann'), join('ben')]
  while (matchmaker.getTicket(ann.id)?.status !== 'HOST_ASSIGNED') await clock.advance(500)
  return {
    clock,
    matchmaker,
    ask,
    join,
    ann,
    ben,
    exit: (code: number) => exits[0]?.(code),
    close: async () => {
      for (const exit of exits) exit(0)
      await clock.until(matchmaker.close())
      await clock.until(client.close())
      await emulator.close()
    },
  }
}

type World = Awaited<ReturnType<typeof open>>

/** Returns the milliseconds until a poll is answered, and the answer. */
async function polled({ clock, ask, ann, matchmaker }: World, begin: () => void) {
  const version = matchmaker.getTicket(ann.id)?.version
  const answer = ask('ann', `/tickets/${ann.id}?wait=30&version=${version}&until=match-end`)
  let done = false
  void answer.then(() => (done = true))
  await clock.advance(3000)
  expect(done).toBe(false)
  const before = clock.now()
  begin()
  while (!done && clock.now() - before < 40_000) await clock.advance(50)
  return { took: clock.now() - before, ticket: (await (await answer).json()) as { ended?: object; status: string } }
}

describe('a long poll for the end of the match', () => {
  test('a long poll answers within 5 s that the server crashed, and the players may play again', async () => {
    const world = await open()
    const { matchmaker, join } = world
    expect(() => join('ann')).toThrow(PlayerPlaying)
    const { took, ticket } = await polled(world, () => world.exit(1))
    expect(took).toBeLessThanOrEqual(5000)
    expect(ticket).toMatchObject({ status: 'HOST_ASSIGNED', ended: { reason: 'server-lost', at: expect.any(String) } })
    expect(join('ann').status).toBe('SEARCHING')
    expect(matchmaker.findPlayer('ben').tickets).toEqual([])
    await world.close()
  })

  test('a long poll answers within 5 s that the server ended by itself', async () => {
    const world = await open()
    const { took, ticket } = await polled(world, () => world.exit(0))
    expect(took).toBeLessThanOrEqual(5000)
    expect(ticket).toMatchObject({ status: 'HOST_ASSIGNED', ended: { reason: 'match-over' } })
    await world.close()
  })

  test('a long poll answers immediately that the match was stopped', async () => {
    const world = await open()
    const { matchmaker, ann } = world
    const matchId = matchmaker.getTicket(ann.id)?.matchId ?? ''
    const { took, ticket } = await polled(world, () => void matchmaker.stopMatch(matchId).catch(() => {}))
    expect(took).toBeLessThanOrEqual(250)
    expect(ticket).toMatchObject({ ended: { reason: 'match-over' } })
    await world.close()
  })
})

test('a ticket stream ends at HOST_ASSIGNED, or with `until=match-end` at the end of the match', async () => {
  const world = await open()
  const { clock, ask, ann, ben } = world
  const usual = await ask('ben', `/tickets/${ben.id}/events`)
  expect(await usual.text()).toMatch(/HOST_ASSIGNED/)
  const stream = await ask('ann', `/tickets/${ann.id}/events?until=match-end`)
  const text = stream.text()
  world.exit(1)
  await clock.advance(6000)
  const events = (await text).split('\n').filter((line) => line.startsWith('data: '))
  expect(events.map((line) => (JSON.parse(line.slice(6)) as { ended?: { reason: string } }).ended?.reason)).toEqual([
    undefined,
    'server-lost',
  ])
  const me = (await (await ask('ann', '/me')).json()) as { matches: object[] }
  expect(me.matches).toEqual([])
  await world.close()
})

test('a long poll for the end of an ended match answers immediately', async () => {
  const world = await open()
  world.exit(0)
  await world.clock.advance(6000)
  const { version } = world.matchmaker.getTicket(world.ann.id) ?? {}
  const answer = await world.ask('ann', `/tickets/${world.ann.id}?wait=30&version=${version}&until=match-end`)
  expect(await answer.json()).toMatchObject({ ended: { reason: 'match-over' } })
  await world.close()
})
