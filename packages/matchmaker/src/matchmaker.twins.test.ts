/**
 * Tests a create that made two deployments. Both have the same token, and each process reports the deployment in which
 * it runs.
 */
import { ConnectionLost } from '@muster/core'
import { createMemoryStore, type PoolDefinition, type StoreMemory } from '@muster/hosting'
import { createMemoryServerLog, RegistrationBody, ReportBody, type ServerLog } from '@muster/hosting/internal'
import { describe, expect, test } from 'vitest'
import { createMatchmakerOver } from './create-matchmaker.js'
import { deploy, duel, setUp } from './matchmaker.fixture.js'

const arena: PoolDefinition = { name: 'arena', deploy: { application: 'game', version: '1' } }
const pooled = { queues: [{ name: 'duel', matchSize: 2, pool: 'arena' }], pools: [arena] }
const own = { queues: [{ ...duel, deploy: { ...deploy, probe: { kind: 'registration' as const } } }] }
const lost = new ConnectionLost('the connection was lost', { sent: true })

function open(options: Parameters<typeof setUp>[0] = {}) {
  const all = setUp({ ...pooled, service: { fate: () => ({ readyMs: 1000 }) }, ...options })
  let { matchmaker } = all
  const { service } = all
  const token = () =>
    service.calls.create[0]?.environment_variables?.find(({ key }) => key === 'MUSTER_SERVER_TOKEN')?.value ?? ''
  const seqs = new Map<string, number>()
  /**
   * Registers a process.
   * @param deployment the deployment that it reports: by default its own, null for none. Returns the error's name.
   */
  const register = (name: string, deployment: string | null = name) => {
    try {
      matchmaker.registerServer(
        token(),
        RegistrationBody.parse({ instance: name, deployment: deployment ?? undefined }),
      )
      return 'registered'
    } catch (error) {
      return error instanceof Error ? error.name : error
    }
  }
  const report = async (name: string) => {
    const seq = (seqs.get(name) ?? 0) + 1
    seqs.set(name, seq)
    const matchId = matchmaker.getTicket('ann-ben')?.matchId
    const matches = matchId === undefined ? [] : [{ id: matchId, status: 'open' }]
    try {
      const { want, matches: given } = await matchmaker.reportServer(
        token(),
        ReportBody.parse({ instance: name, seq, matches }),
      )
      return `${want}, ${given.length} matches`
    } catch (error) {
      return error instanceof Error ? error.name : error
    }
  }
  /** A deployment with the tag of the first create. */
  const addTwin = async () => (await service.add(service.calls.create[0]?.tags ?? [])).request_id
  const restart = (more: Partial<Parameters<typeof createMatchmakerOver>[0]>) => {
    matchmaker = createMatchmakerOver({
      deployments: service.deployments,
      ...pooled,
      clock: all.clock,
      listLagMs: 4000,
      ...more,
    })
  }
  const run = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 250) {
      await matchmaker.tick()
      await all.clock.advance(250)
    }
  }
  const searches = () => service.calls.list.filter(({ query }) => JSON.stringify(query).includes('match-')).length
  const ticket = () => matchmaker.getTicket('ann-ben')
  return { ...all, run, token, register, report, addTwin, restart, searches, ticket, matchmaker: () => matchmaker }
}

describe('two deployments made by one create', () => {
  test.each([
    ['a pool', pooled],
    ['a single match', own],
  ])(
    'if one create for %s makes two deployments, the first to register gets orders and the other is stopped',
    async (_, options) => {
      const { service, seen, join, run, register, report, addTwin, ticket } = open(options)
      join('ann', 'ben')
      await run(500)
      expect(await addTwin()).toBe('r2')
      await run(1000)
      expect(register('r1')).toBe('registered')
      expect(await report('r1')).toBe('run, 1 matches')
      expect(register('r2')).toBe('ServerGone')
      expect(await report('r1')).toBe('run, 1 matches')
      await run(500)
      expect(seen.deploymentStopped).toMatchObject([{ requestId: 'r2', reason: 'twin' }])
      expect(ticket()).toMatchObject({ status: 'HOST_ASSIGNED', assignment: { fqdn: 'r1.example.com' } })
      await run(60_000)
      expect(service.unstopped()).toEqual(['r1'])
      expect(seen.problem).toBeUndefined()
    },
  )

  test('of two deployments of one create, the unused deployment is stopped even if it registers first', async () => {
    const { service, join, run, register, report, addTwin, ticket } = open()
    join('ann', 'ben')
    await run(500)
    await addTwin()
    await run(1000)
    expect(register('r2')).toBe('ServerGone')
    expect(await report('r2')).toBe('ServerNotRegistered')
    expect(register('r1')).toBe('registered')
    expect(await report('r1')).toBe('run, 1 matches')
    await run(500)
    expect(ticket()?.assignment?.fqdn).toBe('r1.example.com')
    expect(service.unstopped()).toEqual(['r1'])
  })

  test('two server processes that name no deployment are accepted, and the later replaces the earlier', async () => {
    const { join, run, register, report, addTwin } = open()
    join('ann', 'ben')
    await run(1500)
    await addTwin()
    expect(register('A', null)).toBe('registered')
    expect(register('B', null)).toBe('registered')
    expect(await report('A')).toBe('drain, 0 matches')
  })

  test('a restarted process in the same deployment replaces the earlier process, which drains', async () => {
    const { join, run, register, report } = open()
    join('ann', 'ben')
    await run(1500)
    expect(register('A', 'r1')).toBe('registered')
    expect(register('B', 'r1')).toBe('registered')
    expect(await report('B')).toBe('run, 1 matches')
    expect(await report('A')).toBe('drain, 0 matches')
  })
})

describe('a registration while the deployment of the server is unknown', () => {
  test('a registration waits for the answer of the create while the deployment is unknown', async () => {
    const { join, run, register } = open({
      service: { fate: () => ({ readyMs: 1000 }), latencyMs: (method) => (method === 'create' ? 2000 : 0) },
    })
    join('ann', 'ben')
    await run(3000)
    expect(register('r1')).toBe('Unavailable')
    await run(1500)
    expect(register('r1')).toBe('registered')
  })

  test('a registration with an unknown deployment triggers a list request, and one deployment is kept', async () => {
    const { service, join, run, register, addTwin, searches } = open({
      // With this lag, the list is first read after 15 s.
      listLagMs: 240_000,
      orphanGraceMs: Infinity,
      service: {
        fate: () => ({ readyMs: 1000 }),
        listLagMs: 2000,
        fault: (method, nth) => (method === 'create' && nth === 1 ? { error: lost, effect: true } : undefined),
      },
    })
    join('ann', 'ben')
    await run(1000)
    await addTwin()
    await run(2250)
    expect(searches()).toBe(0)
    const both = ['r1', 'r2']
    expect(both.map((name) => register(name))).toEqual(['Unavailable', 'Unavailable'])
    await run(500)
    const answers = both.map((name) => register(name))
    expect(answers.toSorted()).toEqual(['ServerGone', 'registered'])
    await run(500)
    expect(service.unstopped()).toEqual([both[answers.indexOf('registered')]])
  })

  test('registrations with an unknown deployment trigger a list at most once a second', async () => {
    const { join, run, register, searches } = open({
      listLagMs: 240_000,
      service: { fault: (method) => (method === 'create' ? { error: lost } : undefined) },
    })
    join('ann', 'ben')
    await run(500)
    for (let passed = 0; passed < 10_000; passed += 250) {
      expect(register('r1')).toBe('Unavailable')
      await run(250)
    }
    expect(searches()).toBeGreaterThan(8)
    expect(searches()).toBeLessThan(12)
  })

  test('a registration waits after a takeover for the deployment that the new process finds', async () => {
    const memory: StoreMemory = new Map()
    const { service, join, run, register, report, addTwin, restart, ticket } = open({
      store: createMemoryStore(memory),
      service: {
        fate: () => ({ readyMs: 1000 }),
        listLagMs: 2000,
        fault: (method, nth) => (method === 'create' && nth === 1 ? { error: lost, effect: true } : undefined),
      },
    })
    join('ann', 'ben')
    await run(250)
    await addTwin()
    restart({ store: createMemoryStore(memory) })
    await run(1000)
    const both = ['r1', 'r2']
    expect(both.map((name) => register(name))).toEqual(['Unavailable', 'Unavailable'])
    await run(2000)
    const followed = both.find((name) => register(name) === 'registered') ?? ''
    restart({ store: createMemoryStore(memory) })
    await run(500)
    expect(await report(followed)).toBe('ServerNotRegistered')
    expect(both.filter((name) => register(name) === 'registered')).toEqual([followed])
    expect(await report(followed)).toBe('run, 1 matches')
    await run(1000)
    expect(ticket()?.assignment?.fqdn).toBe(`${followed}.example.com`)
    expect(service.unstopped()).toEqual([followed])
  })
})

test('the store records which of two deployments is used before the unused deployment is ordered to end', async () => {
  const memory = createMemoryServerLog()
  let release = () => {}
  const serverLog: ServerLog = {
    open: () => memory.open(),
    append: async (entries) => {
      if (entries.some(({ kind }) => kind === 'created')) await new Promise<void>((resolve) => (release = resolve))
      await memory.append(entries)
    },
  }
  const { join, run, register, addTwin } = open({ serverLog })
  join('ann', 'ben')
  await run(1000)
  await addTwin()
  await run(500)
  expect(register('r2')).toBe('Unavailable')
  release()
  await run(250)
  expect(register('r2')).toBe('ServerGone')
})

describe('a server that claims a foreign deployment', () => {
  test('a server that claims a foreign deployment must end, and the foreign deployment is untouched', async () => {
    const { service, join, run, register, searches, ticket, matchmaker } = open()
    join('ann', 'ben')
    await run(1500)
    const { request_id: strangers } = await service.add(['another-game'])
    const { request_id: ours } = await service.add(['mm-muster', 'match-other'])
    const before = searches()
    for (let passed = 0; passed < 10_000; passed += 250) {
      for (const claimed of [strangers, ours, 'r9', '../../v1/stop/r1'])
        expect(register('hostile', claimed)).toBe('ServerGone')
      await run(250)
    }
    expect(searches() - before).toBeLessThan(10)
    expect(service.calls.stop).toEqual([])
    expect(service.calls.get.map(({ request_id: id }) => id)).not.toContain(strangers)
    expect(matchmaker().inspect().servers).toEqual([])
    expect(register('r1')).toBe('registered')
    expect(ticket()?.matchId).toBeDefined()
  })

  test.each([[''], ['r 1'], ['r1\n'], ['ä'], ['x'.repeat(129)], [7], [null]])(
    'a registration with the malformed deployment id %j is refused',
    (deployment) => {
      const parsed = RegistrationBody.safeParse({ instance: 'one', deployment })
      expect(parsed.error?.issues.map(({ path }) => path)).toEqual([['deployment']])
    },
  )
})
