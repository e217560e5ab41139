import { createManualClock, seededRandom } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { browserSchema, Fleet, Allocator, createMemoryServerLog, createServiceSource } from '@muster/hosting/internal'
import { createTestService } from '@muster/hosting/service-fixture'
import { createPool } from '@muster/kernel'
import { defineQueue } from './queues/queue.js'
import { compileQueue } from './queues/compile.js'
import { createQueueRuntime } from './tickets/queue-runtime.js'
import { createPlayerIndex } from './tickets/player-index.js'

const deploy = { application: 'game', version: '1' }

function anAllocator() {
  const clock = createManualClock()
  const tell = () => {}
  return new Allocator({
    sources: {
      service: createServiceSource({
        service: createTestService({ clock }).deployments,
        clock,
        random: seededRandom(1),
        ownTag: 'mm-test',
        readsPerSecond: 1,
        listLagMs: 1,
        orphanGraceMs: 1,
      }),
      others: new Map(),
    },
    serverLog: createMemoryServerLog(),
    clock,
    stopwatch: () => 0,
    random: seededRandom(1),
    masterSecret: () => 'secret',
    bound: { maxServers: 1, maxStarting: 1, maxCreatesPerMinute: 1 },
    maxCreatesInFlight: 1,
    browser: browserSchema.parse({}),
    seatUnused: tell,
    assertMayStart: tell,
    on: {
      games: { rosterOf: () => undefined, left: tell, over: tell, ended: tell, seatsWanted: () => true },
      servers: { registered: tell, draining: tell, lost: tell, returned: tell, taken: tell, freed: tell },
      created: tell,
      used: tell,
      up: tell,
      ready: tell,
      failed: tell,
      faulty: tell,
      logs: tell,
      over: tell,
      stopped: tell,
      reaped: tell,
      problem: tell,
    },
  })
}

// V8 stores an object with its own accessor as a dictionary. Its lookups take many times as long, and optimized code is
// discarded when another such object comes.
test.each([
  [
    'a queue runtime',
    createQueueRuntime(
      defineQueue({ name: 'a', matchSize: 2, deploy }),
      () => {},
      () => {},
    ),
  ],
  ['a pool', createPool(compileQueue(defineQueue({ name: 'a', matchSize: 2, deploy })).model)],
  ['a player index', createPlayerIndex()],
  ['a fleet', new Fleet()],
  ['an allocator', anAllocator()],
])('the object %s has no getters or setters, which V8 would run more slowly than fields', (_, one) => {
  const accessors = Object.entries(Object.getOwnPropertyDescriptors(one)).filter(([, { get }]) => get !== undefined)
  expect(accessors.map(([name]) => name)).toEqual([])
})

test('all queues, and all their compiled models, have the same fields in the same order', () => {
  const least = defineQueue({ name: 'a', matchSize: 2, deploy })
  const most = defineQueue({
    deploy,
    mode: 'arrival',
    acceptance: { withinMs: 1000 },
    lastResortMs: 1000,
    rules: [{ kind: 'distance', maxKm: 100 }],
    teams: [{ name: 'all', size: 2 }],
    name: 'b',
  })
  expect(Object.keys(most)).toEqual(Object.keys(least))
  expect(Object.keys(compileQueue(most).model)).toEqual(Object.keys(compileQueue(least).model))
})
