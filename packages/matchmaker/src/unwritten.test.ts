/** Tests what clients see of tickets while the disk is full, and after a kill -9. */
import { MusterError } from '@muster/core'
import { createManualClock, seededRandom } from '@muster/core/clock'
import { createMemoryStore, type Store, type StoreMemory, type StoreRecords } from '@muster/hosting'
import { createTestService } from '@muster/hosting/service-fixture'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createMatchmaker } from './create-matchmaker.js'
import { Unavailable } from './errors.js'
import { duel } from './matchmaker.fixture.js'

/** Creates a store on a disk that can be full. */
function createDisk() {
  const memory: StoreMemory = new Map()
  const disk = { isFull: false }
  const open = (): Store => {
    const store = createMemoryStore(memory)
    const pending: (() => void)[] = []
    const put = (write: () => void) => void (disk.isFull ? pending.push(write) : write())
    return {
      ...store,
      isFailing: () => disk.isFull,
      flush: () => {
        if (!disk.isFull) for (const write of pending.splice(0)) write()
      },
      records: (kind, live): StoreRecords => {
        const records = store.records(kind, live)
        return {
          stored: records.stored,
          write: (changes) => {
            if (disk.isFull) throw new Unavailable('full')
            records.write(changes)
          },
          put: (key, value) => put(() => records.put(key, value)),
          change: (key, change) => put(() => records.change(key, change)),
          remove: (key) => put(() => records.remove(key)),
        }
      },
    }
  }
  return { disk, open }
}

function createWorld() {
  const { disk, open } = createDisk()
  const clock = createManualClock()
  const service = createTestService({ clock, fate: () => ({ readyMs: 1000 }) })
  const random = seededRandom(1)
  const begin = () =>
    createMatchmaker({
      deployments: service.deployments,
      queues: [{ ...duel, acceptance: { withinMs: 3000 } }],
      clock,
      random,
      listLagMs: 1000,
      store: open(),
    })
  let matchmaker = begin()
  const run = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 250) {
      const ticked = matchmaker.tick()
      await clock.advance(250)
      await clock.until(ticked)
    }
  }
  return {
    disk,
    run,
    matchmaker: () => matchmaker,
    /** The next process starts with the data on the disk. */
    kill: () => {
      matchmaker = begin()
    },
  }
}

const ids = ['ann', 'ben', 'cas']

test('no caller or listener learns of a change before the change is on the disk', async () => {
  const { disk, run, matchmaker } = createWorld()
  for (const id of ['ann', 'ben']) matchmaker().createTicket({ id, queue: 'duel', players: [{ id, ip: '192.0.2.1' }] })
  await run(250)
  const before = matchmaker().getTicket('ann')
  disk.isFull = true
  await run(5000)
  expect(() => matchmaker().getTicket('ann')).toThrow(Unavailable)
  await expect(matchmaker().waitForChange('ann', { version: before?.version ?? 0 })).rejects.toThrow(Unavailable)
  disk.isFull = false
  expect(matchmaker().getTicket('ann')?.version).toBeGreaterThan(before?.version ?? 0)
})

test('property: the version of a ticket never decreases, with a full disk and kills at any time', async () => {
  const step = fc.oneof(
    fc.record({ does: fc.constant('run' as const), ms: fc.constantFrom(250, 1000, 4000) }),
    fc.record({ does: fc.constantFrom('fill' as const, 'empty' as const, 'kill' as const) }),
    fc.record({
      does: fc.constantFrom('create' as const, 'accept' as const, 'cancel' as const),
      id: fc.constantFrom(...ids),
    }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const { disk, run, matchmaker, kill } = createWorld()
      const seen = new Map<string, string>()
      const versions = new Map<string, number>()
      const look = () => {
        for (const id of ids) {
          let ticket
          try {
            ticket = matchmaker().getTicket(id)
          } catch (error) {
            if (error instanceof Unavailable) continue
            throw error
          }
          if (ticket === undefined) continue
          const name = `${id} ${ticket.createdAt}`
          expect(ticket.version).toBeGreaterThanOrEqual(versions.get(name) ?? 0)
          versions.set(name, ticket.version)
          // The same version must always mean the same state.
          const key = `${name} ${ticket.version}`
          const state = `${ticket.status} ${ticket.matchId ?? ''}`
          expect(seen.get(key) ?? state).toBe(state)
          seen.set(key, state)
        }
      }
      for (const one of steps) {
        try {
          if (one.does === 'run') await run(one.ms)
          else if (one.does === 'fill') disk.isFull = true
          else if (one.does === 'empty') disk.isFull = false
          else if (one.does === 'kill') kill()
          else if (one.does === 'accept') matchmaker().acceptMatch(one.id)
          else if (one.does === 'cancel') matchmaker().cancelTicket(one.id)
          else if (one.does === 'create')
            matchmaker().createTicket({ id: one.id, queue: 'duel', players: [{ id: one.id, ip: '192.0.2.1' }] })
        } catch (error) {
          if (!(error instanceof MusterError)) throw error
        }
        look()
      }
    }),
    { numRuns: 60 },
  )
})
