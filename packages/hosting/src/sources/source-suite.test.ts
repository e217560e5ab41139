/** What each source of servers has to do: the deployment service, an allocator, one over HTTP, processes. */
import { createManualClock } from '@muster/core/clock'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { createOwner } from './source-owner.fixture.js'
import { type Fault, LAG_MS, openWorlds, type WorldOptions } from './source-world.fixture.js'

const { kinds, close } = await openWorlds()
afterAll(close)

/** @param faults of creates, and of other calls, in turn; none once they are used up */
function open(kind: keyof typeof kinds, { creates = [], others = [], lateMs = 0 }: Partial<Plan> = {}) {
  const clock = createManualClock()
  const left = { creates: [...creates], others: [...others] }
  const fault: WorldOptions['fault'] = (isCreate) => (isCreate ? left.creates : left.others).shift() ?? 'ok'
  const world = kinds[kind]({ clock, fault, lateMs })
  const owner = createOwner(world, clock)
  return { ...owner, world, phase: (id: string) => owner.servers.get(id)?.phase }
}

/** Longer than from one complete list of the service to the next. */
const SWEEP_MS = 45_000
/** Long enough for each lookup, each repetition of a stop and each effect that comes late. */
const LONG_MS = 120 * LAG_MS

interface Plan {
  readonly creates: readonly Fault[]
  readonly others: readonly Fault[]
  readonly lateMs: number
}

describe.each(Object.keys(kinds) as (keyof typeof kinds)[])('%s', (kind) => {
  test('creates a server, tells that it is ready, and confirms its stop once', async () => {
    const { create, run, stop, phase, servers, world } = open(kind)
    await create('a')
    await run(5000)
    expect(phase('a')).toBe('ready')
    expect(world.running()).toEqual(['a'])
    stop('a')
    stop('a')
    await run(5000)
    expect(servers.get('a')).toMatchObject({ phase: 'over', ends: 1 })
    expect(world.running()).toEqual([])
  })

  test.each(['failed', 'ended'] as const)('tells that a server has %s by itself', async (how) => {
    const { create, run, phase, world } = open(kind)
    await create('a')
    await run(5000)
    world.end('a', how)
    await run(20_000)
    expect([phase('a'), world.running()]).toEqual(['over', []])
  })

  test('finds the server of a create whose answer was lost', async () => {
    const { create, run, phase, world } = open(kind, { creates: ['effect'] })
    await create('a')
    await run(20_000)
    expect([phase('a'), world.running()]).toEqual(['ready', ['a']])
  })

  test('says that there is none where a create had no effect', async () => {
    const { create, run, phase, world } = open(kind, { creates: ['lost'] })
    await create('a')
    await run(20_000)
    expect([phase('a'), world.running()]).toEqual(['over', []])
  })

  test.each([3, 30])('keeps or stops what a lost create makes %i s later', async (seconds) => {
    const { create, run, phase, world } = open(kind, { creates: ['late'], lateMs: seconds * 1000 })
    await create('a')
    await run(LONG_MS)
    expect(world.running()).toEqual(phase('a') === 'ready' ? ['a'] : [])
  })

  test('repeats a stop until it is confirmed', async () => {
    const { create, run, stop, phase, world } = open(kind, { others: Array<Fault>(8).fill('lost') })
    await create('a')
    stop('a')
    await run(60_000)
    expect([phase('a'), world.running()]).toEqual(['over', []])
  })

  test('says that nothing was created where there is no capacity', async () => {
    const { create, run, phase, world } = open(kind, { creates: ['no-capacity'] })
    await create('a')
    await run(1000)
    expect([phase('a'), world.running()]).toEqual(['over', []])
  })

  test.each(['ok', 'effect', 'lost'] as const)(
    'is taken over in the middle of a create that comes to: %s',
    async (to) => {
      const { create, run, restart, phase, world } = open(kind, { creates: [to] })
      const sent = create('a')
      restart()
      await sent
      await run(20_000)
      expect([phase('a'), world.running()]).toEqual(to === 'lost' ? ['over', []] : ['ready', ['a']])
    },
  )

  test('leaves nothing running and never two servers of one id, whatever happens when', async () => {
    const faultOf = (...faults: readonly Fault[]) => fc.constantFrom<Fault>('ok', 'ok', ...faults)
    const plans = fc.record({
      creates: fc.array(faultOf('lost', 'effect', 'late', 'no-capacity'), { maxLength: 4 }),
      others: fc.array(faultOf('lost', 'effect'), { maxLength: 20 }),
      lateMs: fc.integer({ min: 0, max: 30_000 }),
      acts: fc.array(
        fc.record({
          id: fc.constantFrom('a', 'b', 'c'),
          what: fc.constantFrom('create', 'create', 'stop', 'restart', 'create and restart', 'failed', 'ended'),
          thenMs: fc.integer({ min: 0, max: 6000 }),
        }),
        { minLength: 1, maxLength: 8 },
      ),
    })
    await fc.assert(
      fc.asyncProperty(plans, async ({ acts, ...plan }) => {
        const { create, stop, restart, run, stopAll, isOver, servers, world, close: end } = open(kind, plan)
        for (const { id, what, thenMs } of acts) {
          const sent = what.startsWith('create') ? create(id) : undefined
          if (what.endsWith('restart')) restart()
          if (what === 'stop') stop(id)
          if (what === 'failed' || what === 'ended') world.end(id, what)
          await sent
          await run(thenMs)
        }
        await run(LONG_MS, () => [...servers.values()].every(({ phase }) => phase === 'ready' || phase === 'over'))
        await run(plan.lateMs + SWEEP_MS)
        const ready = [...servers.values()].filter(({ phase }) => phase === 'ready').map(({ id }) => id)
        expect([...world.running()].toSorted()).toEqual(ready.toSorted())
        stopAll()
        await run(LONG_MS, isOver)
        expect(world.running()).toEqual([])
        expect([...servers.values()].filter(({ ends }) => ends !== 1)).toEqual([])
        end()
      }),
      { numRuns: 35 },
    )
  })
})
