import { describe, expect, test } from 'vitest'
import type { Group, GroupStore } from './group-store.js'

export interface GroupStoreUnderTest {
  /** Keeps two groups at most. */
  readonly store: GroupStore
  /** The same groups as another process sees them; for a store of one process, the same store. */
  readonly other: GroupStore
  /** Lets this time pass for the store, and more by no more than a tenth. */
  readonly pass: (ms: number) => Promise<void>
  /** Milliseconds for which the store keeps a group that gathers without requests about it. */
  readonly idleMs: number
  readonly close?: () => Promise<void>
}

export const aGroup = (id: string, playerIds: readonly string[], changes: Partial<Group> = {}): Group => ({
  id,
  profile: 'duel',
  members: playerIds.map((playerId) => ({
    id: `member-${playerId}`,
    player: { id: playerId, ip: '192.0.2.1', attributes: { skill: 5 } },
    ready: false,
  })),
  searchingSince: undefined,
  ...changes,
})

/**
 * What every store must do, for one process and (with `other`) for many: call it in a test file of the store's.
 * @param open gives an empty store.
 */
export function testGroupStore(name: string, open: () => Promise<GroupStoreUnderTest>): void {
  const using = (check: (stores: GroupStoreUnderTest) => Promise<void>) => async () => {
    const stores = await open()
    try {
      await check(stores)
    } finally {
      await stores.close?.()
    }
  }

  describe(`${name} keeps groups`, () => {
    test(
      'as plain data, the same for all',
      using(async ({ store, other }) => {
        const group = aGroup('one', ['ann', 'bob'])
        await store.create(group)
        for (const each of [store, other]) expect(await each.find('one')).toEqual({ version: 1, group })
        expect(await other.find('two')).toBeUndefined()
        expect(store.size()).toBe(1)
      }),
    )

    test(
      'and replaces only the version that was read',
      using(async ({ store, other }) => {
        const group = aGroup('one', ['ann'])
        await store.create(group)
        expect(await other.replace(aGroup('one', ['ann', 'bob']), 1)).toBe(true)
        expect(await store.replace(aGroup('one', ['ann', 'eve']), 1)).toBe(false)
        expect(await store.find('one')).toEqual({ version: 2, group: aGroup('one', ['ann', 'bob']) })
        expect(await store.replace(aGroup('two', ['eve']), 1)).toBe(false)
        expect(await store.find('two')).toBeUndefined()
      }),
    )

    test(
      'and lets one of many replace a version',
      using(async ({ store, other }) => {
        await store.create(aGroup('one', ['ann']))
        const tries = Array.from({ length: 20 }, (_, index) =>
          (index % 2 === 0 ? store : other).replace(aGroup('one', ['ann', `p${index}`]), 1),
        )
        expect((await Promise.all(tries)).filter(Boolean)).toHaveLength(1)
      }),
    )

    test(
      'until nobody is left in them',
      using(async ({ store, other }) => {
        await store.create(aGroup('one', ['ann']))
        expect(await other.replace(aGroup('one', []), 1)).toBe(true)
        expect(await store.find('one')).toBeUndefined()
        expect(await store.gathering('ann')).toBeUndefined()
        expect(await store.replace(aGroup('one', ['ann']), 2)).toBe(false)
      }),
    )

    test(
      'and finds the one in which a player gathers',
      using(async ({ store, other }) => {
        await store.create(aGroup('one', ['ann', 'bob']))
        expect((await other.gathering('bob'))?.group.id).toBe('one')
        await other.replace(aGroup('one', ['ann']), 1)
        expect(await store.gathering('bob')).toBeUndefined()
        await store.create(aGroup('two', ['ann']))
        expect((await other.gathering('ann'))?.group.id).toBe('two')
        expect(await other.gathering('eve')).toBeUndefined()
      }),
    )

    test(
      'and finds no group that searches as one in which a player gathers',
      using(async ({ store, other }) => {
        await store.create(aGroup('one', ['ann']))
        expect(await store.replace(aGroup('one', ['ann'], { searchingSince: 5 }), 1)).toBe(true)
        expect(await other.gathering('ann')).toBeUndefined()
        expect((await other.find('one'))?.group.searchingSince).toBe(5)
        expect(await other.replace(aGroup('one', ['ann']), 2)).toBe(true)
        expect((await store.gathering('ann'))?.version).toBe(3)
      }),
    )

    test(
      'up to a number of them',
      using(async ({ store, other }) => {
        await store.create(aGroup('one', ['ann']))
        await other.create(aGroup('two', ['bob']))
        expect(await store.create(aGroup('three', ['eve']))).toBe(false)
        expect(await store.gathering('eve')).toBeUndefined()
        await store.replace(aGroup('one', []), 1)
        expect(await store.create(aGroup('three', ['eve']))).toBe(true)
      }),
    )

    test(
      'and forgets those that nobody reads',
      using(async ({ store, other, pass, idleMs }) => {
        await store.create(aGroup('one', ['ann']))
        await store.create(aGroup('two', ['bob']))
        await pass(idleMs * 0.7)
        expect(await other.find('one')).toBeDefined()
        await pass(idleMs * 0.7)
        expect(await store.find('two')).toBeUndefined()
        expect(await store.gathering('bob')).toBeUndefined()
        expect(await store.find('one')).toBeDefined()
        expect(await store.create(aGroup('three', ['bob']))).toBe(true)
      }),
    )
  })
}
