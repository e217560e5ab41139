/** Test cases for the behaviour that every kind of source must have. */
import { createManualClock } from '@muster/core/clock'
import fc from 'fast-check'
import { expect } from 'vitest'
import { createOwner } from './source-owner.fixture.js'
import { type Fault, LAG_MS, type SourceWorld, type WorldOptions } from './source-world.fixture.js'

/** Opens a simulated source of one kind. */
export type SourceKind = (options: WorldOptions) => SourceWorld

/** Faults of the next creates and of the next other calls. Afterwards, no call fails. */
interface Plan {
  readonly creates: readonly Fault[]
  readonly others: readonly Fault[]
  readonly lateMs: number
}

function open(kind: SourceKind, { creates = [], others = [], lateMs = 0 }: Partial<Plan> = {}) {
  const clock = createManualClock()
  const left = { creates: [...creates], others: [...others] }
  const fault: WorldOptions['fault'] = (isCreate) => (isCreate ? left.creates : left.others).shift() ?? 'ok'
  const world = kind({ clock, fault, lateMs })
  const owner = createOwner(world, clock)
  return { ...owner, world, phase: (id: string) => owner.servers.get(id)?.phase }
}

/** Milliseconds that exceed the time between two sweeps of the service's list. */
const SWEEP_MS = 45_000
/** Milliseconds that suffice for all lookups, repeated stops and late effects. */
const LONG_MS = 120 * LAG_MS
/** Milliseconds within which the end of a server is noticed and its stop confirmed. */
const SEEN_MS = 6000

type Scene = (kind: SourceKind) => Promise<void>

/** Test cases by the behaviour that they test. */
export const scenes: Readonly<Record<string, Scene>> = {
  'creates a server, reports it ready, and confirms its stop once': async (kind) => {
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
  },

  'follows several servers, even after a restart, and ends none of them': async (kind) => {
    const { create, run, restart, phase, world } = open(kind)
    const ids = ['a', 'b', 'c', 'd', 'e']
    for (const id of ids) await create(id)
    await run(20_000)
    expect([ids.map(phase), [...world.running()].toSorted()]).toEqual([ids.map(() => 'ready'), ids])
    restart()
    await run(20_000)
    expect([ids.map(phase), [...world.running()].toSorted()]).toEqual([ids.map(() => 'ready'), ids])
  },

  ...scenesOf(['failed', 'ended'] as const, (how) => [
    `reports that a server has ${how} by itself`,
    (kind) => tellsOfEnd(kind, how),
  ]),

  'reports after a restart that a server ended meanwhile': async (kind) => {
    const { create, run, restart, phase, world } = open(kind)
    await create('a')
    await run(5000)
    world.end('a', 'ended')
    restart()
    await run(SEEN_MS)
    expect([phase('a'), world.running()]).toEqual(['over', []])
  },

  'finds the server of a create whose answer was lost': async (kind) => {
    const { create, run, phase, world } = open(kind, { creates: ['effect'] })
    await create('a')
    await run(20_000)
    expect([phase('a'), world.running()]).toEqual(['ready', ['a']])
  },

  'keeps one server of a create that arrives twice': async (kind) => {
    const { create, run, stop, phase, world } = open(kind, { creates: ['twice'], others: ['twice', 'twice'] })
    await create('a')
    await run(LONG_MS)
    expect([phase('a'), world.running()]).toEqual(['ready', ['a']])
    stop('a')
    await run(5000)
    expect([phase('a'), world.running()]).toEqual(['over', []])
  },

  'reports the end of a create that had no effect': async (kind) => {
    const { create, run, phase, world } = open(kind, { creates: ['lost'] })
    await create('a')
    await run(20_000)
    expect([phase('a'), world.running()]).toEqual(['over', []])
  },

  ...scenesOf([3, 30], (seconds) => [
    `keeps or stops the server of a lost create that appears ${seconds} s later`,
    (kind) => dealsWithLateCreate(kind, seconds),
  ]),

  'repeats a stop until it is confirmed': async (kind) => {
    const { create, run, stop, phase, servers, world } = open(kind, { others: Array<Fault>(8).fill('lost') })
    await create('a')
    stop('a')
    await run(60_000)
    expect([phase('a'), servers.get('a')?.ends, world.running()]).toEqual(['over', 1, []])
  },

  'continues a stop that was not confirmed before a restart': async (kind) => {
    const { create, run, stop, restart, phase, world } = open(kind, { others: Array<Fault>(4).fill('lost') })
    await create('a')
    stop('a')
    await run(500)
    restart()
    await run(60_000)
    expect([phase('a'), world.running()]).toEqual(['over', []])
  },

  'keeps a server although several calls get no answer': async (kind) => {
    const { create, run, phase, world } = open(kind, { others: Array<Fault>(6).fill('lost') })
    await create('a')
    await run(60_000)
    expect([phase('a'), world.running()]).toEqual(['ready', ['a']])
  },

  'reports that nothing was created without capacity': async (kind) => {
    const { create, run, phase, world } = open(kind, { creates: ['no-capacity'] })
    await create('a')
    await run(1000)
    expect([phase('a'), world.running()]).toEqual(['over', []])
  },

  'keeps the other servers if the data of one server is invalid': async (kind) => {
    const { create, run, stop, phase, world } = open(kind)
    if (world.garble === undefined) return
    for (const id of ['a', 'b', 'c']) await create(id)
    await run(5000)
    world.garble('a')
    world.end('b', 'failed')
    await run(SEEN_MS)
    expect([['a', 'b', 'c'].map(phase), world.running()]).toEqual([
      ['ready', 'over', 'ready'],
      ['a', 'c'],
    ])
    stop('a')
    await run(5000)
    expect([phase('a'), world.running()]).toEqual(['over', ['c']])
  },

  ...scenesOf(['ok', 'effect', 'lost'] as const, (to) => [
    `continues after a restart during a create with the outcome: ${to}`,
    (kind) => takesOverCreate(kind, to),
  ]),

  'leaves nothing running and never two servers of one id, under any faults': async (kind) => {
    const faultOf = (...faults: readonly Fault[]) => fc.constantFrom<Fault>('ok', 'ok', ...faults)
    const plans = fc.record({
      creates: fc.array(faultOf('lost', 'effect', 'late', 'no-capacity', 'twice'), { maxLength: 4 }),
      others: fc.array(faultOf('lost', 'effect', 'twice'), { maxLength: 20 }),
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
  },
}

function scenesOf<Value>(
  values: readonly Value[],
  scene: (value: Value) => readonly [string, Scene],
): Readonly<Record<string, Scene>> {
  return Object.fromEntries(values.map(scene))
}

async function tellsOfEnd(kind: SourceKind, how: 'failed' | 'ended') {
  const { create, run, phase, world } = open(kind)
  await create('a')
  await run(5000)
  world.end('a', how)
  await run(SEEN_MS)
  expect([phase('a'), world.running()]).toEqual(['over', []])
}

async function dealsWithLateCreate(kind: SourceKind, seconds: number) {
  const { create, run, phase, world } = open(kind, { creates: ['late'], lateMs: seconds * 1000 })
  await create('a')
  await run(LONG_MS)
  expect(world.running()).toEqual(phase('a') === 'ready' ? ['a'] : [])
}

async function takesOverCreate(kind: SourceKind, to: 'ok' | 'effect' | 'lost') {
  const { create, run, restart, phase, world } = open(kind, { creates: [to] })
  const sent = create('a')
  restart()
  await sent
  await run(20_000)
  expect([phase('a'), world.running()]).toEqual(to === 'lost' ? ['over', []] : ['ready', ['a']])
}
