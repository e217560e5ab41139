import { expect, test } from 'vitest'
import { createPair, createWorld, duel } from './world.fixture.js'

test('a ticket created in one process is matched by another, and all have the server address', async () => {
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

test('every process shows that the server of a match has crashed, and its players are free again', async () => {
  const { first: leader, second: follower, join, again, pass, service, clock, problems } = await createPair()
  await join('ann', 'ben')
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
  expect(await again('ann')).toMatchObject({
    status: 'SEARCHING',
  })
  expect(service.running()).toEqual([])

  // The next leader does not treat the match as running.
  await leader.close()
  await pass(3000)
  expect(follower.leads()).toBe(true)
  const { id } = await again('ben')
  await pass(3000)
  expect(await follower.getTicket(id)).toMatchObject({ status: 'HOST_ASSIGNED', ended: undefined })
  expect(problems).toEqual([])
  await follower.close()
})

test('every process knows the secret of a match, even after a change of the leader', async () => {
  const { first: leader, second: follower, join, answer, pass, service } = await createPair()
  await join('ann', 'ben')
  await pass(3000)
  const matchId = (await follower.getTicket('ann'))?.matchId ?? ''
  const secret = service.servers[0]?.environment?.['MM_MATCH_SECRET'] ?? ''
  const asked = () =>
    answer(
      Promise.all([
        follower.isServerSecret(secret),
        follower.isSecretOf(matchId, secret),
        follower.isSecretOf('other', secret),
        follower.isSecretOf(matchId, `${secret.slice(0, -1)}${secret.endsWith('0') ? '1' : '0'}`),
      ]),
    )
  expect(await asked()).toEqual([true, true, false, false])
  await answer(leader.close())
  await pass(3000)
  expect(follower.leads()).toBe(true)
  expect(await asked()).toEqual([true, true, false, false])
  await follower.close()
})

test('a match that nobody joins ends, but not if a process got a report of one of its players', async () => {
  const queues = [{ ...duel, deploy: { ...duel.deploy, joinWithinMs: 10_000 } }]
  const { first: leader, second: follower, join, answer, pass, service, problems } = await createPair({ queues })
  await join('ann', 'ben')
  await pass(3000)
  await join('cas', 'dan')
  await pass(3000)
  const matchId = (await follower.getTicket('ann'))?.matchId ?? ''
  const [kept, empty] = service.servers
  const secret = kept?.environment?.['MM_MATCH_SECRET'] ?? ''
  expect(await answer(follower.playerCame(matchId, secret, 'ann'))).toBe(true)
  expect(await answer(follower.playerCame(matchId, empty?.environment?.['MM_MATCH_SECRET'] ?? '', 'ann'))).toBe(false)
  await pass(15_000)
  expect(service.running().map(({ id }) => id)).toEqual([kept?.id])
  expect(await follower.getTicket('cas')).toMatchObject({ ended: { reason: 'nobody-joined' } })
  expect((await follower.getTicket('ann'))?.ended).toBeUndefined()
  expect(problems).toEqual([])
  await Promise.all([leader.close(), follower.close()])
})
