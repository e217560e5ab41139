import { expect, test } from 'vitest'
import { fingerprintOf } from './partition-options.js'
import { PartitionUnavailable } from './partition-errors.js'
import { createPair, createWorld, duel } from './world.fixture.js'

const trio = { ...duel, name: 'trio', matchSize: 3 }

test('a closed process leaves no timer and no read behind, whether it led or followed', async () => {
  const { clock, process, pass, problems } = createWorld()
  const calls: string[] = []
  const [leader, follower] = [process(), process({}, (method) => void calls.push(method))]
  leader.start()
  await pass(200)
  follower.start()
  await pass(2000)
  await clock.until(follower.close(), 10)
  const before = calls.length
  await pass(10_000, 100)
  expect(calls.length).toBe(before)
  await clock.until(leader.close(), 10)
  await pass(1000)
  expect(clock.sleepers).toBe(0)
  expect(problems).toEqual([])
})

test('a leader that closes does not load tickets again', async () => {
  const { clock, process, pass } = createWorld()
  const loads: string[] = []
  const only = process({}, (method) => void (method === 'loadTickets' && loads.push(method)))
  only.start()
  await pass(500)
  expect(only.leads()).toBe(true)
  const before = loads.length
  await clock.until(only.close(), 10)
  expect(loads.length).toBe(before)
})

test('a leader closes although Redis is down while a match waits to be written behind another commit', async () => {
  const { clock, process, pass, player } = createWorld({ queues: [duel, trio] })
  const down = new Set<string>()
  const only = process({}, (method) => {
    if (down.has(method)) throw new Error(`Redis is down: ${method}`)
  })
  only.start()
  await pass(500)
  down.add('commit')
  only.pauseQueue('trio').catch(() => {})
  await pass(50)
  const join = (id: string) => only.createTicket({ id, queue: 'duel', players: [player(id)] })
  await clock.until(Promise.all([join('ann'), join('bob')]), 10)
  await pass(500)
  for (const method of ['renew', 'inbox', 'release', 'acquire']) down.add(method)
  const closed = only.close().then(() => 'closed')
  expect(await clock.until(Promise.race([closed, clock.sleep(20_000)]), 10)).toBe('closed')
})

test('a takeover during which Redis answers are lost keeps the tickets that were already loaded', async () => {
  const { clock, process, pass, partition, player } = createWorld()
  const first = process()
  first.start()
  await pass(200)
  let toLose = 0
  let loads = 0
  const second = process({}, (method, moment) => {
    if (method === 'loadTickets') loads += 1
    if ((method !== 'setInForce' && method !== 'commit') || moment === 'before' || toLose === 0) return
    toLose -= 1
    throw new Error('lost')
  })
  second.start()
  await first.createTicket({ id: 'ann', queue: 'duel', players: [player('ann')] })
  await pass(1000)
  const before = loads
  toLose = 4
  await clock.until(first.close(), 10)
  await pass(2000)
  expect(second.leads()).toBe(true)
  expect(toLose).toBe(0)
  expect(loads).toBe(before)
  expect(partition.inForce()).toBeDefined()
  await clock.until(second.close(), 10)
})

test('queues that are replaced while a process starts to lead apply once it leads', async () => {
  const { clock, process, pass, player } = createWorld()
  let go = () => {}
  const held = new Promise<void>((resolve) => {
    go = resolve
  })
  let isHeld = false
  const only = process({}, async (method, moment) => {
    if (method !== 'setInForce' || moment === 'before' || isHeld) return
    isHeld = true
    await held
  })
  only.start()
  await pass(500)
  expect(isHeld).toBe(true)
  only.reconfigure([duel, trio])
  go()
  await pass(500)
  expect(await clock.until(only.queuesInForce(), 10)).toMatchObject({ fingerprint: fingerprintOf([duel, trio]) })
  const ids = ['ann', 'bob', 'eve']
  for (const id of ids) await only.createTicket({ id, queue: 'trio', players: [player(id)] })
  await pass(3000)
  expect(await only.getTicket('ann')).toMatchObject({ status: 'HOST_ASSIGNED' })
  await clock.until(only.close(), 10)
})

test('the function that `on` of a partition returns ends one subscription of a listener, not others', async () => {
  const { clock, process, pass } = createWorld()
  const only = process()
  let led = 0
  const listener = () => void (led += 1)
  const off = only.on('leading', listener)
  only.on('leading', listener)
  off()
  only.start()
  await pass(500)
  expect(led).toBe(1)
  await clock.until(only.close(), 10)
})

test('queues that are replaced while the store is down are reported as active once the store is back', async () => {
  const { clock, process, pass } = createWorld()
  let isAway = false
  const only = process({}, (method) => {
    if (isAway && method === 'setInForce') throw new Error('away')
  })
  const differences: unknown[] = []
  only.on('queuesDiffer', (event) => differences.push(event))
  only.start()
  await pass(500)
  isAway = true
  only.reconfigure([duel, trio])
  await pass(500)
  isAway = false
  await pass(10_000, 100)
  expect(await clock.until(only.queuesInForce(), 10)).toMatchObject({ names: ['duel', 'trio'] })
  expect(differences).toEqual([])
  await clock.until(only.close(), 10)
})

test('a process leads only once it has read everything that the previous leader wrote', async () => {
  const { clock, process, pass, player, problems, service } = createWorld()
  const first = process()
  first.start()
  await pass(200)
  let go = () => {}
  let held: Promise<void> | undefined
  const second = process({}, async (method, moment) => {
    if (method === 'changes' && moment === 'after') await held
  })
  second.start()
  await pass(500)
  held = new Promise((resolve) => {
    go = resolve
  })
  for (const id of ['ann', 'bob']) await first.createTicket({ id, queue: 'duel', players: [player(id)] })
  await pass(500)
  expect(await first.getTicket('ann')).toMatchObject({ status: 'MATCH_FOUND' })
  await clock.until(first.close(), 10)
  await pass(3000)
  expect(second.leads()).toBe(false)
  held = undefined
  go()
  await pass(5000)
  expect(second.leads()).toBe(true)
  expect(await second.getTicket('ann')).toMatchObject({ status: 'HOST_ASSIGNED' })
  expect(service.servers).toHaveLength(1)
  expect(problems).toEqual([])
  await clock.until(second.close(), 10)
})

test('a standby discards its loaded tickets if it missed changes of tickets', async () => {
  const { clock, process, pass, player, partition, problems } = createWorld({ queues: [duel, trio] })
  const first = process()
  first.start()
  await pass(200)
  let isCut = false
  let loads = 0
  const second = process({}, (method) => {
    if (method === 'loadTickets') loads += 1
    if (isCut && method === 'changes') throw new Error('cut off')
  })
  second.start()
  await pass(500)
  const before = loads
  isCut = true
  for (const id of ['ann', 'bob']) await first.createTicket({ id, queue: 'trio', players: [player(id)] })
  await pass(500)
  // Write so many changes that those of the meantime are trimmed.
  for (let number = 0; number < 9000; number += 1) partition.changes.add([])
  isCut = false
  await pass(6000)
  expect(loads).toBeGreaterThan(before)
  problems.length = 0
  await clock.until(first.close(), 10)
  await pass(2000)
  await second.createTicket({ id: 'eve', queue: 'trio', players: [player('eve')] })
  await pass(3000)
  expect(await second.getTicket('ann')).toMatchObject({ status: 'HOST_ASSIGNED' })
  expect(problems).toEqual([])
  await clock.until(second.close(), 10)
})

test('a follower that becomes the leader uses the queues it was last given', async () => {
  const { clock, process, pass, player } = createWorld()
  const [first, second] = [process(), process()]
  first.start()
  await pass(200)
  second.start()
  await pass(500)
  for (const one of [first, second]) one.reconfigure([duel, trio])
  await clock.until(first.close(), 10)
  await pass(2000)
  for (const id of ['ann', 'bob', 'eve']) await second.createTicket({ id, queue: 'trio', players: [player(id)] })
  await pass(3000)
  expect(await second.getTicket('ann')).toMatchObject({ status: 'HOST_ASSIGNED' })
  await clock.until(second.close(), 10)
})

test('a leader that missed changes of followers reads all tickets again', async () => {
  const { clock, process, pass, player, partition } = createWorld()
  let isCut = false
  const leader = process({}, (method) => {
    if (isCut && method === 'inbox') throw new Error('cut off')
  })
  leader.start()
  await pass(200)
  const follower = process({ canLead: false })
  follower.start()
  await pass(200)
  isCut = true
  await pass(1500)
  for (const id of ['ann', 'bob']) await follower.createTicket({ id, queue: 'duel', players: [player(id)] })
  for (let number = 0; number < 17_000; number += 1) partition.inbox.add({ kind: 'ask', text: '' })
  isCut = false
  await pass(5000)
  expect(leader.leads()).toBe(true)
  expect(await follower.getTicket('ann')).toMatchObject({ status: 'HOST_ASSIGNED' })
  await clock.until(Promise.all([leader.close(), follower.close()]), 10)
})

test('a process names once what the leader has configured differently, besides its queues', async () => {
  const { clock, process, pass, problems } = createWorld()
  const pool = { name: 'arena', deploy: { application: 'game', version: '1' } }
  const secret = `whsec_${Buffer.from('k'.repeat(24)).toString('base64')}`
  const first = process({ pools: [pool] })
  const second = process({ pools: [pool], results: { url: 'https://games.example/results', secret } })
  const said = () => problems.map(String)
  first.start()
  await pass(300)
  second.start()
  await pass(11_000, 100)
  const [sentence = '', ...more] = said()
  expect(sentence).toMatch(
    /The leader, process-1, is configured differently .*: receiver of results \(it has none: .* are lost\)\. Deploy/,
  )
  expect(more).toEqual([])
  first.reconfigure([duel], { pools: [{ ...pool, keepIdleSeconds: 9 }] })
  await pass(6000, 100)
  expect(said().slice(1)).toEqual([sentence.replace('receiver', 'pools, receiver')])
  second.reconfigure([duel], { pools: [{ ...pool, keepIdleSeconds: 9 }] })
  await pass(6000, 100)
  expect(said().slice(2)).toEqual([sentence])
  expect((await clock.until(second.queuesInForce(), 10))?.others?.['pools']).toMatch(/^[0-9a-f]{16}$/)
  await clock.until(Promise.all([first.close(), second.close()]), 10)
})

test('what only one of leader and follower has configured is refused for now, never as unknown', async () => {
  const pair = await createPair()
  const { first, second, answer, player, pass } = pair
  const ticket = (queue: string) => ({ id: queue, queue, players: [player(queue)] })
  const refusals = async (process: typeof second, queue: string) => {
    const calls = [
      () => process.createTicket(ticket(queue)),
      () => process.createMatch({ queue, teams: [{ name: 'team', players: [player('a')] }] }),
      () => process.largestParty(queue),
      () => process.playerMayState(queue),
    ]
    const refused = calls.map(async (call) => call())
    return Promise.all(refused.map((one) => answer(one.then(() => 'done').catch((error: Error) => error.name))))
  }
  const places = [{ name: 'Oslo', latitude: 59.9, longitude: 10.7 }]
  const pools = [{ name: 'arena', places, custom: {}, deploy: duel.deploy }]

  second.reconfigure([duel, trio], { pools })
  expect((await refusals(second, 'trio')).slice(0, 2)).toEqual(['PartitionUnavailable', 'PartitionUnavailable'])
  const operators = [
    () => second.pauseQueue('trio'),
    () => second.resumeQueue('trio'),
    () => second.pausePool('arena', true),
    () => second.startServer({ pool: 'arena', playerIds: ['ann'], attributes: {} }),
  ]
  for (const call of operators) await expect(answer<unknown>(call())).rejects.toThrow(PartitionUnavailable)
  expect(await answer(second.createTicket(ticket('duel')))).toMatchObject({ status: 'SEARCHING' })

  first.reconfigure([duel, trio], { pools })
  for (const call of operators) await answer<unknown>(call())
  expect(await answer(second.createTicket(ticket('trio')))).toMatchObject({ status: 'SEARCHING' })

  second.reconfigure([duel])
  await pass(6000)
  expect(await refusals(second, 'trio')).toEqual(Array(4).fill('PartitionUnavailable'))
  expect((await refusals(second, 'quartet'))[0]).toBe('UnknownQueue')
  await expect(answer(second.pauseQueue('quartet'))).rejects.toThrow('There is no queue "quartet"')
  await pair.close()
})

test('a leader without a receiver of results says so if the leader before had one', async () => {
  const { clock, process, pass, problems } = createWorld()
  const secret = `whsec_${Buffer.from('k'.repeat(24)).toString('base64')}`
  const first = process({ results: { url: 'https://games.example/results', secret } })
  first.start()
  await pass(300)
  const second = process()
  second.start()
  await pass(300)
  await clock.until(first.close(), 10)
  await pass(2000, 100)
  expect(second.leads()).toBe(true)
  expect(problems.map(String)).toContainEqual(
    expect.stringMatching(/leads without `results`, but the leader before, process-1, had it\. Results .* are lost/),
  )
  const third = process()
  third.start()
  await pass(300)
  await clock.until(second.close(), 10)
  await pass(2000, 100)
  expect(problems.map(String).filter((text) => text.includes('leads without'))).toHaveLength(1)
  await clock.until(third.close(), 10)
})
