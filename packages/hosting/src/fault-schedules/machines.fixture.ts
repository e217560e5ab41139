import type { Clock, Random } from '@muster/core/clock'
import type { createTestService } from '../service.fixture.js'
import type { createTestAllocator } from '../sources/allocator.fixture.js'
import { createGameProcess, type GameProcess, type GameWorld } from './game-process.fixture.js'
import { ENROLMENT_KEY } from './definitions.fixture.js'
import { chance, oneOf } from './random-faults.fixture.js'

interface MachinesOptions {
  readonly clock: Pick<Clock, 'now'>
  readonly random: Random
  readonly service: Pick<ReturnType<typeof createTestService>, 'records' | 'calls'>
  readonly allocator: Pick<ReturnType<typeof createTestAllocator>, 'servers' | 'running' | 'end'>
  readonly world: GameWorld
  readonly doubled: Set<string>
  /** Number of machines whose processes enrol. */
  readonly machines: number
}

/** All places where game server processes run: deployments, servers of an allocator, and machines that enrol. */
export type Machines = ReturnType<typeof createMachines>

/** A place for one game server process at a time. */
interface Slot {
  readonly handle: string
  readonly token: string
  readonly capacity: number
  /** Epoch milliseconds at which the first process starts. */
  readonly bootsAt: number
  readonly isRunning: () => boolean
  process: GameProcess | undefined
  begun: number
}

export function createMachines({ clock, random, service, allocator, world, doubled, machines }: MachinesOptions) {
  const slots: Slot[] = []
  const twins: GameProcess[] = []
  let known = 0
  let allocated = 0

  const tokens = new Map<string, string>()
  let called = 0
  const tokenOf = (tags: readonly string[]) => {
    for (; called < service.calls.create.length; called += 1) {
      const { tags: own = [], environment_variables: variables = [] } = service.calls.create[called] ?? {}
      const token = variables.find(({ key }) => key === 'MUSTER_SERVER_TOKEN')?.value
      for (const tag of own) if (tag.startsWith('match-') && token !== undefined) tokens.set(tag, token)
    }
    return tags.map((tag) => tokens.get(tag)).find((token) => token !== undefined)
  }

  const add = (slot: Omit<Slot, 'capacity' | 'process' | 'begun'>) =>
    slots.push({ ...slot, capacity: oneOf(random, 1, 1, 2), process: undefined, begun: 0 })

  const addNew = () => {
    for (; known < service.records.length; known += 1) {
      const record = service.records[known]
      const token = record && tokenOf(record.tags)
      if (record === undefined || token === undefined) continue
      const { requestId, createdAt, fate } = record
      const endsAt = createdAt + Math.min(fate.endMs ?? Infinity, fate.errorMs ?? Infinity)
      const bootsAt = createdAt + Math.max(500, (fate.readyMs ?? 5000) + random() * 2500 - 500)
      const isRunning = () => record.stopAskedAt === undefined && clock.now() < endsAt
      add({ handle: requestId, token, bootsAt: chance(random, 0.02) ? Infinity : bootsAt, isRunning })
    }
    if (allocated === allocator.servers.size) return
    for (const [id, { wanted }] of [...allocator.servers].slice(allocated)) {
      const token = wanted.environment['MUSTER_SERVER_TOKEN'] ?? ''
      const isRunning = () => allocator.running().includes(id)
      add({ handle: id, token, bootsAt: clock.now() + 500 + random() * 4000, isRunning })
    }
    allocated = allocator.servers.size
  }

  const start = (slot: Slot): GameProcess => {
    slot.begun += 1
    const { handle: requestId, token, capacity } = slot
    const behaviour = { isLiar: !world.isCalm() && chance(random, 0.1), refuses: chance(random, 0.06) }
    const enrolmentKey = token === '' ? ENROLMENT_KEY : undefined
    return createGameProcess({ requestId, token, enrolmentKey, capacity, nth: slot.begun, ...behaviour }, world)
  }

  const harm = (slot: Slot, process: GameProcess) => {
    const isOwn = slot.token !== ''
    const what = random()
    if (what < 0.002) process.end()
    else if (what < 0.004 && isOwn) {
      doubled.add(slot.handle)
      twins.push(start(slot))
    } else if (what < 0.008) {
      process.end()
      slot.process = start(slot)
    } else if (what < 0.014) process.silence(clock.now() + random() * 60_000)
    else if (what < 0.015 && allocator.servers.has(slot.handle))
      allocator.end(slot.handle, oneOf(random, 'failed', 'ended'))
  }

  for (let nth = 0; nth < machines; nth += 1)
    add({ handle: `machine-${nth}`, token: '', bootsAt: clock.now() + random() * 10_000, isRunning: () => true })

  return {
    *processes(): Generator<GameProcess> {
      for (const { process } of slots) if (process?.hasEnded() === false) yield process
      for (const process of twins) if (!process.hasEnded()) yield process
    },
    step: (share: number) => {
      addNew()
      for (const slot of slots) {
        if (!slot.isRunning()) {
          slot.process?.end()
          for (const twin of twins) if (twin.requestId === slot.handle) twin.end()
          slot.process = undefined
          continue
        }
        if (clock.now() < slot.bootsAt) continue
        // An enrolled process that has ended is started again, as by a supervisor.
        if (slot.process === undefined || (slot.token === '' && slot.process.hasEnded() && !world.isCalm())) {
          if (slot.process !== undefined || slot.begun === 0) slot.process = start(slot)
        }
        const { process } = slot
        if (process === undefined || process.hasEnded()) continue
        if (chance(random, share)) process.step()
        if (!world.isCalm()) harm(slot, process)
      }
      for (const twin of twins) if (!twin.hasEnded() && chance(random, share)) twin.step()
    },
  }
}
