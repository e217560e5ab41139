import { expect, test } from 'vitest'
import { createWorld, duel } from './world.fixture.js'

test('a ticket that one process takes is matched by another, and every process knows where to connect', async () => {
  const { process, pass, player, service, problems } = createWorld()
  const [first, second, third] = [process(), process(), process()]
  first.start()
  await pass(50)
  second.start()
  third.start()
  await pass(500)
  expect([first, second, third].map((one) => one.leads())).toEqual([true, false, false])
  await second.createTicket({ id: 'ann', queue: 'duel', players: [player('ann')] })
  const created = third.createTicket({ id: 'bob', queue: 'duel', players: [player('bob')] })
  expect(await created).toMatchObject({ id: 'bob', version: 1, status: 'SEARCHING', players: [{ id: 'bob' }] })
  await pass(3000)
  expect(problems).toEqual([])
  expect(service.running()).toHaveLength(1)
  for (const each of [first, second, third])
    expect(await each.getTicket('ann')).toMatchObject({
      status: 'HOST_ASSIGNED',
      assignment: { fqdn: 'r1.example.com' },
    })
  await Promise.all([first.close(), second.close(), third.close()])
})

test('every process tells that the server of a match has crashed, and its players are free at once', async () => {
  const { process, pass, player, service, clock, problems } = createWorld()
  const [leader, follower] = [process(), process()]
  leader.start()
  await pass(50)
  follower.start()
  await pass(500)
  const wait = (id: string) => follower.createTicket({ id, queue: 'duel', players: [player(id)] })
  await Promise.all([wait('ann'), wait('ben')])
  await pass(3000)
  const { version = 0 } = (await follower.getTicket('ann')) ?? {}
  const change = follower.waitForChange('ann', { version, until: 'match-end' })
  const [server] = service.running()
  if (server !== undefined) server.failedAt = clock.now()
  await pass(5000)
  expect(await change).toMatchObject({
    status: 'HOST_ASSIGNED',
    version: version + 1,
    ended: { reason: 'server-lost', at: expect.any(Number) },
    assignment: { fqdn: 'r1.example.com' },
  })
  expect((await follower.findPlayer('ben')).tickets).toEqual([])
  expect(await follower.createTicket({ id: 'ann2', queue: 'duel', players: [player('ann')] })).toMatchObject({
    status: 'SEARCHING',
  })
  expect(service.running()).toEqual([])

  // The next leader does not take the match for a running one.
  await leader.close()
  await pass(3000)
  expect(follower.leads()).toBe(true)
  expect(await follower.createTicket({ id: 'ben2', queue: 'duel', players: [player('ben')] })).toMatchObject({
    status: 'SEARCHING',
  })
  await pass(3000)
  expect(await follower.getTicket('ben2')).toMatchObject({ status: 'HOST_ASSIGNED', ended: undefined })
  expect(problems).toEqual([])
  await follower.close()
})

test('every process knows the secret of a match, and still does when another one leads', async () => {
  const { process, pass, player, service, clock } = createWorld()
  const [leader, follower] = [process(), process()]
  leader.start()
  await pass(50)
  follower.start()
  await pass(500)
  for (const id of ['ann', 'ben']) await follower.createTicket({ id, queue: 'duel', players: [player(id)] })
  await pass(3000)
  const matchId = (await follower.getTicket('ann'))?.matchId ?? ''
  const secret = service.servers[0]?.environment?.['MM_MATCH_SECRET'] ?? ''
  const asked = () =>
    clock.until(
      Promise.all([
        follower.isServerSecret(secret),
        follower.isSecretOf(matchId, secret),
        follower.isSecretOf('other', secret),
        follower.isSecretOf(matchId, `${secret.slice(0, -1)}${secret.endsWith('0') ? '1' : '0'}`),
      ]),
      10,
    )
  expect(await asked()).toEqual([true, true, false, false])
  await clock.until(leader.close(), 10)
  await pass(3000)
  expect(follower.leads()).toBe(true)
  expect(await asked()).toEqual([true, true, false, false])
  await follower.close()
})

test('a match to which nobody comes ends; one player of whom any process is asked keeps it', async () => {
  const queues = [{ ...duel, deploy: { ...duel.deploy, joinWithinMs: 10_000 } }]
  const { process, pass, player, service, clock, problems } = createWorld({ queues })
  const [leader, follower] = [process(), process()]
  leader.start()
  await pass(50)
  follower.start()
  await pass(500)
  for (const id of ['ann', 'ben']) await follower.createTicket({ id, queue: 'duel', players: [player(id)] })
  await pass(3000)
  for (const id of ['cas', 'dan']) await follower.createTicket({ id, queue: 'duel', players: [player(id)] })
  await pass(3000)
  const matchId = (await follower.getTicket('ann'))?.matchId ?? ''
  const [kept, empty] = service.servers
  const secret = kept?.environment?.['MM_MATCH_SECRET'] ?? ''
  expect(await clock.until(follower.playerCame(matchId, secret, 'ann'), 10)).toBe(true)
  expect(
    await clock.until(follower.playerCame(matchId, empty?.environment?.['MM_MATCH_SECRET'] ?? '', 'ann'), 10),
  ).toBe(false)
  await pass(15_000)
  expect(service.running().map(({ id }) => id)).toEqual([kept?.id])
  expect(await follower.getTicket('cas')).toMatchObject({ ended: { reason: 'nobody-joined' } })
  expect((await follower.getTicket('ann'))?.ended).toBeUndefined()
  expect(problems).toEqual([])
  await Promise.all([leader.close(), follower.close()])
})

test('the next leader does not know who came, and ends no match that ran before', async () => {
  const queues = [{ ...duel, deploy: { ...duel.deploy, joinWithinMs: 10_000 } }]
  const { process, pass, player, service, clock } = createWorld({ queues })
  const [leader, follower] = [process(), process()]
  leader.start()
  await pass(50)
  follower.start()
  await pass(500)
  for (const id of ['ann', 'ben']) await follower.createTicket({ id, queue: 'duel', players: [player(id)] })
  await pass(3000)
  expect(await follower.getTicket('ann')).toMatchObject({ status: 'HOST_ASSIGNED' })
  await clock.until(leader.close(), 10)
  await pass(20_000)
  expect(follower.leads()).toBe(true)
  expect(service.running()).toHaveLength(1)
  await follower.close()
})
