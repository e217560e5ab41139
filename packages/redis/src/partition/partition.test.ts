import { expect, test } from 'vitest'
import { createWorld } from './world.fixture.js'

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
