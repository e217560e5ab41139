import { expect, test } from 'vitest'
import { createWorld } from './world.fixture.js'

test('an emptied store loses tickets but no server: the reaper stops those that nobody knows, in time', async () => {
  const { clock, partition, service, process, pass, player } = createWorld({ orphanGraceMs: 60_000 })
  const [leader, other] = [process(), process()]
  leader.start()
  await pass(200)
  other.start()
  const join = async (...ids: string[]) => {
    for (const id of ids) await other.createTicket({ id, queue: 'duel', players: [player(id)] })
  }
  await join('ann', 'bob')
  await pass(3000)
  // Another server starts meanwhile.
  await join('eve', 'joe')
  await pass(400)
  expect(service.running()).toHaveLength(2)
  await join('kim')
  partition.wipe()
  await pass(5000, 20)
  expect([leader, other].filter((one) => one.leads())).toHaveLength(1)
  for (const id of ['ann', 'eve', 'kim']) expect(await clock.until(other.getTicket(id), 10)).toBeUndefined()
  // Players may be on the server of ann and bob, which is spared until then.
  expect(service.running().map(({ id }) => id)).toContain('r1')
  await join('ann', 'bob')
  await pass(5000, 20)
  expect(await other.getTicket('bob')).toMatchObject({ status: 'HOST_ASSIGNED' })
  await pass(120_000, 100)
  const { assignment } = (await other.getTicket('bob')) ?? {}
  expect(service.running().map(({ id }) => `${id}.example.com`)).toEqual([assignment?.fqdn])
  await clock.until(Promise.all([leader.close(), other.close()]), 10)
})
