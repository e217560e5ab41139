import { describe, expect, test } from 'vitest'
import type { Group, GroupStore } from './group-store.js'

export interface GroupStoreUnderTest {
  /** A store that keeps at most two groups. */
  readonly store: GroupStore
  /** The same groups as another process sees them; for a store of one process, the same object. */
  readonly other: GroupStore
  /** Lets `ms` milliseconds pass for the store, plus at most 10 %. */
  readonly pass: (ms: number) => Promise<void>
  /** Milliseconds for which the store keeps a forming group without requests about it. */
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
 * The test suite for every group store, for one process and (with `other`) for many. Call it in the store's test file.
 * @param open returns an empty store.
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

  describe(`groups in ${name}`, () => {
    test(
      'groups are stored as plain data, the same for all readers',
      using(async ({ store, other }) => {
        const group = aGroup('one', ['ann', 'bob'])
        await store.create(group)
        for (const each of [store, other]) expect(await each.find('one')).toEqual({ version: 1, group })
        expect(await other.find('two')).toBeUndefined()
        expect(store.size()).toBe(1)
      }),
    )

    test(
      'a group is replaced only at the version that was read',
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
      'of many concurrent replacements of a group version, one succeeds',
      using(async ({ store, other }) => {
        await store.create(aGroup('one', ['ann']))
        const tries = Array.from({ length: 20 }, (_, index) =>
          (index % 2 === 0 ? store : other).replace(aGroup('one', ['ann', `p${index}`]), 1),
        )
        expect((await Promise.all(tries)).filter(Boolean)).toHaveLength(1)
      }),
    )

    test(
      'a group is deleted once nobody is left in it',
      using(async ({ store, other }) => {
        await store.create(aGroup('one', ['ann']))
        expect(await other.replace(aGroup('one', []), 1)).toBe(true)
        expect(await store.find('one')).toBeUndefined()
        expect(await store.gathering('ann')).toBeUndefined()
        expect(await store.replace(aGroup('one', ['ann']), 2)).toBe(false)
      }),
    )

    test(
      'a group store finds the group that a player has joined, and none for a player in no group',
      using(async ({ store, other }) => {
        await store.create(aGroup('one', ['ann', 'bob']))
        expect((await other.gathering('bob'))?.group.id).toBe('one')
        await other.replace(aGroup('one', ['ann']), 1)
        expect(await store.gathering('bob')).toBeUndefined()
        await store.replace(aGroup('one', []), 2)
        await store.create(aGroup('two', ['ann']))
        expect((await other.gathering('ann'))?.group.id).toBe('two')
        expect(await other.gathering('eve')).toBeUndefined()
      }),
    )

    test(
      'a player who has joined a group that is not searching cannot enter a second such group',
      using(async ({ store, other }) => {
        await store.create(aGroup('one', ['ann', 'eve']))
        for (const searchingSince of [undefined, 5])
          expect(await other.create(aGroup('two', ['ann'], { searchingSince }))).toBe(false)
        expect(await other.create(aGroup('two', ['bob']))).toBe(true)
        expect(await other.replace(aGroup('two', ['bob', 'ann']), 1)).toBe(false)
        expect((await store.gathering('ann'))?.group.id).toBe('one')
        expect(await store.replace(aGroup('one', ['eve']), 1)).toBe(true)
        expect(await other.replace(aGroup('two', ['bob', 'ann']), 1)).toBe(true)
        expect((await store.gathering('ann'))?.group.id).toBe('two')
      }),
    )

    test(
      'a group store does not return a searching group as the group that a player gathers in',
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
      'a group store holds up to a maximum number of groups',
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
      'a group store deletes groups that no client reads',
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

    test(
      'a group store keeps an ended group no longer than a forming one, although it searches',
      using(async ({ store, other, pass, idleMs }) => {
        await store.create(aGroup('one', ['ann'], { searchingSince: 5 }))
        await store.create(aGroup('two', ['bob'], { searchingSince: 5 }))
        expect(await other.replace(aGroup('one', ['ann'], { searchingSince: 5, isEnded: true }), 1)).toBe(true)
        expect(await other.replace(aGroup('two', ['bob'], { searchingSince: 5, isEnded: true }), 1)).toBe(true)
        await pass(idleMs * 0.7)
        expect((await store.find('one'))?.group.isEnded).toBe(true)
        await pass(idleMs * 0.7)
        expect(await store.find('two')).toBeUndefined()
        expect(await store.find('one')).toBeDefined()
        expect(await other.create(aGroup('three', ['eve']))).toBe(true)
      }),
    )
  })
}
