/** Tests how creates are sent, through the whole matchmaker. */
import { NoCapacity, RouteMissing, SendAborted } from '@muster/core'
import { describe, expect, test } from 'vitest'
import { deploy, duel, setUp } from './matchmaker.fixture.js'
import { createMemoryServerLog, type DeploymentService, type HostingEntry } from '@muster/hosting/internal'

const tooLarge = Object.fromEntries(Array.from({ length: 70 }, (_, index) => [`V${index}`, 'x'.repeat(4000)]))

test('a random source that repeats itself is an error, and no ticket or match replaces another', async () => {
  const { matchmaker, service, seen, run } = setUp({ random: () => 0.5 })
  const create = (player: string, id?: string) =>
    matchmaker.createTicket({ id, queue: 'duel', players: [{ id: player, ip: '198.51.100.7' }] })
  create('ann')
  expect(() => create('ben')).toThrow('option random: drew an id that exists already')
  for (const id of ['ben', 'cas', 'dee']) create(id, id)
  await matchmaker.tick().catch((error: unknown) => expect(String(error)).toMatch('option random'))
  await run(250).catch(() => {})
  expect(seen.matchFound).toHaveLength(1)
  expect(service.calls.create).toHaveLength(1)
})

test('if the server log throws, a found match is announced, but not created, and its tickets requeue', async () => {
  const memory = createMemoryServerLog()
  let broken = true
  const append = (entries: readonly HostingEntry[]) => {
    if (broken) throw new Error('full')
    return memory.append(entries)
  }
  const { service, names, join, run, status } = setUp({ serverLog: { append, open: memory.open } })
  join('ann', 'ben')
  join('cas', 'dee')
  await run(250)
  expect(service.calls.create).toHaveLength(0)
  expect(names.slice(2, 4)).toEqual(['matchFound', 'matchFound'])
  expect(names.filter((name) => name === 'ticketRequeued')).toHaveLength(2)
  broken = false
  await run(10_000)
  expect(status('ann-ben')).toBe('HOST_ASSIGNED')
})

describe('creates beyond the limit in flight', () => {
  const pairs = ['a', 'b', 'c', 'd']
  const slow = { maxCreatesInFlight: 2, service: { latencyMs: () => 500 } }
  const crowd = async (options: Parameters<typeof setUp>[0] = {}) => {
    const serverLog = createMemoryServerLog()
    const all = setUp({ ...slow, serverLog, ...options })
    // By then the service has answered a list request. Before that, only one server may be created.
    await all.run(1250)
    for (const name of pairs) all.join(`${name}1`, `${name}2`)
    const matchIdOf = (name: string) => all.matchmaker.getTicket(`${name}1-${name}2`)?.matchId ?? ''
    return { ...all, serverLog, matchIdOf }
  }

  test('creates over `maxCreatesInFlight` wait in order, with their intents recorded', async () => {
    const { service, serverLog, matchIdOf, matchmaker, run, status } = await crowd()
    await matchmaker.tick()
    const tags = pairs.map((name) => `match-${matchIdOf(name)}`)
    const sent = () => service.calls.create.map(({ tags: own }) => own?.[1])
    expect((await serverLog.open()).servers).toMatchObject(tags.map((tag) => ({ tag })))
    expect(sent()).toEqual(tags.slice(0, 2))
    await run(750)
    expect(sent()).toEqual(tags.slice(0, 2))
    await run(500)
    expect(sent()).toEqual(tags)
    await run(8000)
    expect(pairs.map((name) => status(`${name}1-${name}2`))).toEqual(pairs.map(() => 'HOST_ASSIGNED'))
  })

  test('a create held by maxCreatesInFlight is sent as soon as an earlier create fails', async () => {
    const { service, run } = await crowd({
      service: { latencyMs: () => 500, fault: (method, nth) => (method === 'create' && nth <= 2 ? {} : undefined) },
    })
    await run(1000)
    expect(service.calls.create).toHaveLength(4)
  })

  test('a create held by maxCreatesInFlight is dropped if its match ends before the create is sent', async () => {
    const { service, seen, serverLog, matchIdOf, matchmaker, run } = await crowd()
    await matchmaker.tick()
    const [, , third, fourth] = pairs.map(matchIdOf) as [string, string, string, string]
    matchmaker.cancelTicket('c1-c2')
    await matchmaker.stopMatch(fourth)
    expect(await serverLog.open()).toMatchObject({ servers: { length: 2 }, matches: { length: 2 } })
    await run(20_000)
    const asked = service.calls.create.flatMap(({ tags }) => tags ?? [])
    expect(asked).not.toContain(`match-${third}`)
    expect(asked).not.toContain(`match-${fourth}`)
    // The ticket of the fourth match searched again and is in another match now.
    expect(service.calls.create).toHaveLength(3)
    expect(seen.deploymentStopped).toBeUndefined()
  })

  test('a create that is too large costs no attempt, and does not hold up later creates', async () => {
    const queues = [{ ...duel, deploy: { ...deploy, hiddenEnvironment: tooLarge } }]
    const { service, seen, serverLog, matchmaker } = await crowd({ queues })
    await matchmaker.tick()
    expect(service.calls.create).toHaveLength(0)
    expect(seen.problem).toHaveLength(4)
    expect(seen.ticketRequeued).toMatchObject(pairs.map(() => ({ reason: 'refused', ticket: { attempts: 0 } })))
    expect(await serverLog.open()).toEqual({ servers: [], matches: [] })
  })

  test('while the service rejects stops, creates are held and their tickets search again', async () => {
    let isRefused = true
    const error = new RouteMissing('deployments.stop: the answer is not of the API')
    const { service, seen, matchmaker, join, run, status } = await crowd({
      service: {
        latencyMs: () => 500,
        fault: (method) => (method === 'stop' && isRefused ? { error } : undefined),
      },
    })
    await run(8000)
    for (const name of ['e', 'f', 'g', 'h']) join(`${name}1`, `${name}2`)
    await matchmaker.tick()
    expect(service.calls.create).toHaveLength(6)
    void matchmaker.stopMatch(matchmaker.getTicket('a1-a2')?.matchId ?? '')
    await run(5000)
    expect(service.calls.create).toHaveLength(6)
    await run(8000)
    expect(service.calls.create).toHaveLength(6)
    expect(seen.ticketRequeued).toMatchObject([0, 1].map(() => ({ reason: 'unavailable', ticket: { attempts: 0 } })))
    expect(matchmaker.inspect()).toMatchObject({ blockedBy: 'unstoppable' })
    isRefused = false
    await run(60_000)
    expect(['g', 'h'].map((name) => status(`${name}1-${name}2`))).toEqual(['HOST_ASSIGNED', 'HOST_ASSIGNED'])
  })

  test('if a stop is rejected before `sent` is recorded, the create is held back without `sentAt`', async () => {
    const memory = createMemoryServerLog()
    let release: (() => void) | undefined
    let isHeld = false
    const append = async (entries: readonly HostingEntry[]): Promise<void> => {
      if (isHeld && entries.some(({ kind }) => kind === 'sent'))
        await new Promise<void>((resolve) => (release = resolve))
      await memory.append(entries)
    }
    let isRefused = true
    const error = new RouteMissing('deployments.stop: the answer is not of the API')
    const { service, matchmaker, matchIdOf, join, run, status } = await crowd({
      serverLog: { append, open: memory.open },
      service: { fault: (method) => (method === 'stop' && isRefused ? { error } : undefined) },
    })
    await run(8000)
    isHeld = true
    join('e1', 'e2')
    await run(500)
    const late = matchIdOf('e')
    expect(release).toBeDefined()
    void matchmaker.stopMatch(matchIdOf('a'))
    await run(1000)
    const recordOf = async () => (await memory.open()).servers.find(({ serverId }) => serverId === late)
    isHeld = false
    release?.()
    await run(1000)
    expect(service.calls.create).toHaveLength(4)
    expect(await recordOf()).not.toHaveProperty('sentAt')
    expect(matchmaker.inspect()).toMatchObject({ blockedBy: 'unstoppable' })
    isRefused = false
    await run(5000)
    expect(service.calls.create).toHaveLength(5)
    expect((await recordOf())?.sentAt).toBeGreaterThan(0)
    await run(10_000)
    expect([status('e1-e2'), matchIdOf('e')]).toEqual(['HOST_ASSIGNED', late])
  })

  test('if a stop is rejected while a create waits in the client, the create is held back', async () => {
    const serverLog = createMemoryServerLog()
    let isRefused = true
    const error = new RouteMissing('deployments.stop: the answer is not of the API')
    const { clock, service } = setUp({
      service: { fault: (method) => (method === 'stop' && isRefused ? { error } : undefined) },
    })
    let turnMs = 0
    const deployments: DeploymentService = {
      ...service.deployments,
      // Like the real client, call `mayWrite` only when the request's turn has come.
      create: async (input, options) => {
        await clock.sleep(turnMs)
        if (options?.mayWrite?.() === false) throw new SendAborted('create: not sent', { sent: false })
        return service.deployments.create(input, options)
      },
    }
    const { matchmaker, join, status } = setUp({ serverLog, clock, deployments })
    const run = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 250) {
        void matchmaker.tick()
        await clock.advance(250)
      }
    }
    await run(1250)
    join('a1', 'a2')
    await run(8000)
    turnMs = 1500
    for (const name of ['b', 'c', 'd']) join(`${name}1`, `${name}2`)
    await run(500)
    void matchmaker.stopMatch(matchmaker.getTicket('a1-a2')?.matchId ?? '').catch(() => {})
    await run(4000)
    expect(service.calls.create).toHaveLength(1)
    expect((await serverLog.open()).servers.filter(({ sentAt }) => sentAt !== undefined)).toHaveLength(1)
    expect(matchmaker.inspect()).toMatchObject({ blockedBy: 'unstoppable' })
    isRefused = false
    turnMs = 0
    await run(15_000)
    expect(['b', 'c', 'd'].map((name) => status(`${name}1-${name}2`))).toEqual(Array(3).fill('HOST_ASSIGNED'))
  })

  test('creates held by maxCreatesInFlight stay unsent in an outage, until a probe succeeds', async () => {
    let isDown = true
    const { service, matchmaker, run, status } = await crowd({
      maxCreatesInFlight: 1,
      service: {
        latencyMs: () => 500,
        fault: (method) => (method === 'create' && isDown ? {} : undefined),
      },
    })
    await matchmaker.tick()
    await run(1600)
    expect(service.calls.create).toHaveLength(3)
    isDown = false
    await run(60_000)
    expect(pairs.map((name) => status(`${name}1-${name}2`))).toEqual(pairs.map(() => 'HOST_ASSIGNED'))
  })

  test('creates held by maxCreatesInFlight are not sent when the matchmaker closes', async () => {
    const { service, clock, matchmaker } = await crowd()
    await matchmaker.tick()
    const closed = matchmaker.close()
    await clock.advance(30_000)
    await closed
    expect(service.calls.create).toHaveLength(2)
    expect(service.unstopped()).toEqual([])
  })
})

describe('the limit of creates per minute', () => {
  const minuteOf = (options: Parameters<typeof setUp>[0] = {}) => {
    const sentAt: number[] = []
    const all = setUp({
      maxCreatesPerMinute: 2,
      ...options,
      service: {
        ...options.service,
        fault: (method, nth) => {
          if (method === 'create') sentAt.push(all.clock.now())
          return options.service?.fault?.(method, nth)
        },
      },
    })
    const joinAll = (...names: string[]) => {
      for (const name of names) all.join(`${name}1`, `${name}2`)
    }
    const mostAtOnce = () =>
      Math.max(...sentAt.map((from) => sentAt.filter((at) => at >= from && at < from + 60_000).length))
    return { ...all, sentAt, joinAll, mostAtOnce }
  }

  test('maxCreatesPerMinute counts each create at the time at which it is sent', async () => {
    let slow = true
    const { sentAt, joinAll, mostAtOnce, run } = minuteOf({
      maxCreatesInFlight: 1,
      service: { latencyMs: () => (slow ? 29_000 : 0) },
    })
    joinAll('a', 'b')
    await run(57_000)
    expect(sentAt).toHaveLength(1)
    slow = false
    joinAll('c', 'd')
    await run(60_000)
    expect(mostAtOnce()).toBe(2)
    await run(62_000)
    expect(sentAt).toHaveLength(4)
    expect(mostAtOnce()).toBe(2)
  })

  test('maxCreatesPerMinute also counts creates that maxCreatesInFlight has held back', async () => {
    const { matchmaker, joinAll, run } = minuteOf({ maxCreatesInFlight: 1, service: { latencyMs: () => 500 } })
    await run(1250)
    joinAll('a', 'b', 'c')
    await run(500)
    expect(matchmaker.inspect()).toMatchObject({ blockedBy: 'maxCreatesPerMinute' })
    expect(matchmaker.inspect().matches).toHaveLength(2)
  })

  test('maxCreatesPerMinute does not count a create whose match ended before it was sent', async () => {
    const { matchmaker, sentAt, joinAll, run } = minuteOf({ maxCreatesInFlight: 1, service: { latencyMs: () => 500 } })
    joinAll('a', 'b')
    await run(250)
    matchmaker.cancelTicket('b1-b2')
    joinAll('c')
    await run(2000)
    expect(sentAt).toHaveLength(2)
    expect(matchmaker.getTicket('c1-c2')).toMatchObject({ status: 'MATCH_FOUND' })
  })

  test('maxCreatesPerMinute ignores creates that are too large or whose intent could not be recorded', async () => {
    const memory = createMemoryServerLog()
    let writes = 0
    const append = (entries: readonly HostingEntry[]) => {
      if (entries.some(({ kind }) => kind === 'server') && ++writes <= 2) throw new Error('full')
      return memory.append(entries)
    }
    const { sentAt, joinAll, matchmaker, run } = minuteOf({
      serverLog: { append, open: memory.open },
      queues: [duel, { ...duel, name: 'large', deploy: { ...deploy, hiddenEnvironment: tooLarge } }],
    })
    for (const id of ['x', 'y']) {
      const players = [`${id}1`, `${id}2`].map((player) => ({ id: player, ip: '198.51.100.7' }))
      matchmaker.createTicket({ id, queue: 'large', players })
    }
    await run(1000)
    expect(matchmaker.getTicket('x')).toMatchObject({ status: 'SEARCHING' })
    joinAll('a', 'b', 'c')
    await run(5000)
    expect(sentAt).toHaveLength(2)
  })

  test('maxCreatesPerMinute counts each placement attempt of a match', async () => {
    const cached = { ...duel, deploy: { ...deploy, requireCachedLocations: true } }
    const { sentAt, joinAll, mostAtOnce, status, run } = minuteOf({
      queues: [cached],
      service: {
        fault: (method, nth) =>
          method === 'create' && nth <= 2
            ? { error: new NoCapacity('full', { requestId: `r${nth}` }), effect: true }
            : undefined,
        fate: (nth) => (nth <= 2 ? { errorMs: 0 } : { readyMs: 1000 }),
      },
    })
    joinAll('a', 'b')
    await run(59_000)
    expect(sentAt).toHaveLength(2)
    expect(status('a1-a2')).toBe('MATCH_FOUND')
    joinAll('c')
    await run(10_000)
    expect(sentAt).toHaveLength(4)
    expect(['a1-a2', 'b1-b2', 'c1-c2'].map(status)).toEqual(['HOST_ASSIGNED', 'HOST_ASSIGNED', 'SEARCHING'])
    expect(mostAtOnce()).toBe(2)
  })
})
