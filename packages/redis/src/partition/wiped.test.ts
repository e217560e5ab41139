import { expect, test } from 'vitest'
import { RecordsVanished } from './partition-errors.js'
import { createWorld, duel } from './world.fixture.js'

test('each process reports once that Redis was emptied, and stops no server that may have players', async () => {
  const lasting = { ...duel, deploy: { ...duel.deploy, maxDurationMs: 300_000 } }
  const { clock, partition, service, process, pass, player } = createWorld({
    orphanGraceMs: 60_000,
    queues: [lasting],
    // With a configured secret, tokens stay valid whatever Redis has lost.
    serverSecret: 'a-secret-of-the-configuration-for-servers',
    apiUrl: 'https://muster.example.com',
  })
  const [leader, other] = [process(), process()]
  leader.start()
  await pass(200)
  other.start()
  const heard = [leader, other].map((one) => {
    const vanished: unknown[] = []
    one.on('problem', ({ error }) => {
      if (error instanceof RecordsVanished) vanished.push(error)
    })
    return vanished
  })
  const join = async (...ids: string[]) => {
    for (const id of ids) await other.createTicket({ id, queue: 'duel', players: [player(id)] })
  }
  await join('ann', 'bob')
  await pass(3000)
  // A server of another match starts meanwhile.
  await join('eve', 'joe')
  await pass(400)
  expect(service.running()).toHaveLength(2)
  await join('kim')
  const token = service.running()[0]?.environment?.['MUSTER_SERVER_TOKEN'] ?? ''
  const register = async () => {
    const registered = other.registerServer(token, { instance: 'i', matches: 1 }).then(
      () => 'registered',
      (error: Error) => error.name,
    )
    return clock.until(registered, 10)
  }
  expect(await register()).toBe('registered')
  partition.wipe()
  await pass(5000, 20)
  expect([leader, other].filter((one) => one.leads())).toHaveLength(1)
  for (const id of ['ann', 'eve', 'kim']) expect(await clock.until(other.getTicket(id), 10)).toBeUndefined()
  expect(heard.map(({ length }) => length)).toEqual([1, 1])
  expect([leader, other].map((one) => one.timesVanished())).toEqual([1, 1])
  await join('ann', 'bob')
  await pass(5000, 20)
  expect(await other.getTicket('bob')).toMatchObject({ status: 'HOST_ASSIGNED' })
  // Longer than the usual grace period of orphans. Unknown servers may have players, so they must not be stopped.
  await pass(120_000, 100)
  expect(await register()).toBe('Unavailable')
  expect(service.running()).toHaveLength(3)
  // By then even the longest match is over.
  await pass(200_000, 100)
  expect(service.running().map(({ id }) => id)).not.toContain('r1')
  expect(await register()).toBe('ServerGone')
  expect(heard.map(({ length }) => length)).toEqual([1, 1])
  await clock.until(Promise.all([leader.close(), other.close()]), 10)
})

test('processes that start, end or die are not reported as a loss of records', async () => {
  const { clock, process, pass, player } = createWorld()
  const all = [process(), process()]
  const vanished: unknown[] = []
  const start = (one: (typeof all)[number]) => {
    one.on('problem', ({ error }) => {
      if (error instanceof RecordsVanished) vanished.push(error)
    })
    one.start()
  }
  for (const one of all) start(one)
  await pass(6000)
  await all[1]?.createTicket({ id: 'ann', queue: 'duel', players: [player('ann')] })
  all[0]?.pause()
  await pass(6000)
  all[0]?.resume()
  const late = process()
  all.push(late)
  start(late)
  await pass(12_000, 20)
  expect(vanished).toEqual([])
  await clock.until(Promise.all(all.map((one) => one.close())), 10)
})

test('a process that leads before it knows its own earlier requests reports no loss of records', async () => {
  const { clock, process, pass, problems } = createWorld()
  let isHeld = false
  const leader = process({}, async (method, moment) => {
    if (isHeld || method !== 'readPartitionRecords' || moment !== 'after') return
    isHeld = true
    await clock.sleep(6000)
  })
  leader.start()
  await pass(12_000)
  expect([isHeld, leader.leads()]).toEqual([true, true])
  expect(problems.filter((error) => error instanceof RecordsVanished)).toEqual([])
  await clock.until(leader.close(), 10)
})
