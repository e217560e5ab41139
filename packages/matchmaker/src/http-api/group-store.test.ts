import { createManualClock } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { createGroupStore } from './group-store.js'
import { aGroup, testGroupStore } from './group-store-suite.fixture.js'

const idleMs = 1000

testGroupStore('the store in memory', async () => {
  const clock = createManualClock()
  const store = createGroupStore({ clock, idleMs, mostGroups: 2, isAlive: () => false })
  return { store, other: store, idleMs, pass: async (ms) => void (await clock.advance(ms)) }
})

test('a searching group is kept for as long as its ticket can be read', async () => {
  const clock = createManualClock()
  let alive = true
  const store = createGroupStore({ clock, idleMs, mostGroups: 2, isAlive: async () => alive })
  await store.create(aGroup('one', ['ann'], { searchingSince: 0 }))
  await clock.advance(idleMs * 3)
  expect(await store.find('one')).toBeDefined()
  alive = false
  await clock.advance(idleMs * 3)
  expect(await store.find('one')).toBeUndefined()
})

test('an ended group is kept for a minute after its last read', async () => {
  const clock = createManualClock()
  const store = createGroupStore({ clock, idleMs: 300_000, mostGroups: 2, isAlive: () => true })
  for (const [id, player] of [
    ['one', 'ann'],
    ['two', 'bob'],
  ] as const)
    await store.create(aGroup(id, [player], { searchingSince: 0, isEnded: true }))
  await clock.advance(50_000)
  expect(await store.find('one')).toBeDefined()
  await clock.advance(10_000)
  expect(await store.find('two')).toBeUndefined()
  expect(await store.create(aGroup('three', ['eve']))).toBe(true)
  await clock.advance(50_000)
  expect(await store.find('one')).toBeUndefined()
})

test('a group whose members cannot be heard during a pause of the process is kept after the pause', async () => {
  const clock = createManualClock()
  const store = createGroupStore({ clock, idleMs: 30_000, mostGroups: 2, isAlive: () => false })
  await store.create(aGroup('one', ['ann']))
  await store.create(aGroup('two', ['bob'], { searchingSince: 0, isEnded: true }))
  await clock.advance(10_000)
  expect([await store.find('one'), await store.find('two')]).not.toContain(undefined)
  await clock.advance(600_000)
  expect([await store.find('one'), await store.find('two')]).not.toContain(undefined)
  for (let passed = 0; passed < 30_000; passed += 10_000) {
    await clock.advance(10_000)
    await store.find('one')
  }
  expect([await store.find('one'), await store.find('two')]).toEqual([expect.anything(), undefined])
})
