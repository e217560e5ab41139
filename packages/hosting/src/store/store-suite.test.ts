/** Tests the behaviour of every store, in memory and in a file. */
import { createManualClock } from '@muster/core/clock'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { MatchmakerClosed } from '../errors.js'
import { openStore } from './file-store.js'
import { createMemoryStore, type Store, type StoreMemory } from './store.js'
import { createFolder, modelled, step } from './store.fixture.js'

const { newPath, remove } = createFolder()
afterAll(remove)

/** Kinds of stores. Each call of the returned function opens the same data again, like a later process. */
const kinds: Readonly<Record<string, () => () => Promise<Store>>> = {
  memory: () => {
    const memory: StoreMemory = new Map()
    return () => Promise.resolve(createMemoryStore(memory))
  },
  file: () => {
    const path = newPath()
    return () => openStore({ path, fsync: 'never', clock: createManualClock() })
  },
  'file, compacted whenever it may be': () => {
    const path = newPath()
    return () => openStore({ path, fsync: 'never', compactAtBytes: 1, clock: createManualClock() })
  },
}

describe.each(Object.entries(kinds))('a store: %s', (_, create) => {
  const owner = { name: 'test', problem: () => {} }

  test('a store gives the next owner all records put, changed and removed, in their order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(step), { maxLength: 4 }), async (lives) => {
        const open = create()
        const all: ReturnType<typeof modelled>['model'] = modelled(createMemoryStore()).model
        for (const steps of lives) {
          const store = await open()
          store.attach(owner)
          const { model, take } = modelled(store)
          for (const [kind, records] of all.kinds) model.kinds.set(kind, new Map(records))
          for (const one of steps) {
            take(one)
            all.apply(one)
          }
          await store.advance()
          await store.close()
        }
        const store = await open()
        for (const kind of ['a', 'b-c']) {
          const records = store.records(kind, () => [])
          expect(records.stored()).toEqual([...all.live(kind)])
          expect(records.stored()).toEqual([])
        }
        await store.close()
      }),
      { numRuns: 40 },
    )
  })

  test('after changes are written together, the store has all of them and all changes before them', async () => {
    const open = create()
    const first = await open()
    first.attach(owner)
    const records = first.records('a', () => [])
    records.put('x', '1')
    records.write([
      { key: 'y', value: '2', change: '3' },
      { key: 'x', change: '4' },
      { key: 'z', value: '5' },
      { key: 'z' },
    ])
    await first.sync()
    expect(first.isFailing()).toBe(false)
    await first.close()
    const next = await open()
    expect(next.records('a', () => []).stored()).toEqual([
      { key: 'x', value: '1', change: '4' },
      { key: 'y', value: '2', change: '3' },
    ])
    await next.close()
  })

  test('a store can be used by one owner at a time, and only under the name that created it', async () => {
    const open = create()
    const first = await open()
    first.attach(owner)
    expect(() => first.attach(owner)).toThrow('option store: is already used by another matchmaker')
    await first.close()
    const next = await open()
    expect(() => next.attach({ ...owner, name: 'other' })).toThrow(
      'option store: belongs to matchmaker "test", not "other". Use another folder. ' +
        'If the name was changed, first run with the former name until all servers have ended, because nothing else ' +
        'stops servers with the tag mm-test.',
    )
    next.attach(owner)
    await next.close()
  })

  test('a store writes nothing after it is closed', async () => {
    const open = create()
    const store = await open()
    const records = store.records('a', () => [])
    expect(store.isClosed()).toBe(false)
    await store.close()
    expect(store.isClosed()).toBe(true)
    expect(() => records.write([{ key: 'x', value: '1' }])).toThrow(MatchmakerClosed)
    records.put('y', '2')
    store.flush()
    await store.advance()
    await store.close()
    const next = await open()
    expect(next.records('a', () => []).stored()).toEqual([])
    await next.close()
  })

  test('a store accepts only record kinds of letters and -', async () => {
    const store = await create()()
    expect(() => store.records('A', () => [])).toThrow('kind: must be lower-case words joined by hyphens, got "A"')
    await store.close()
  })
})
