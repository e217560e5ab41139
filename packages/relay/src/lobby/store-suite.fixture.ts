import { describe, expect, test } from 'vitest'
import { isRefusal, step } from './step.js'
import type { Lobby } from './lobby.js'
import { aLobby, join, START } from './lobby.fixture.js'
import { defaultRules } from '../lobby-rules.js'
import type { LobbyStore } from './store.js'

export interface StoreUnderTest {
  readonly store: LobbyStore
  /** The same lobbies as another process sees them; for a store of one process, the same store. */
  readonly other: LobbyStore
  readonly close?: () => Promise<void>
}

const CODES = ['BCDFGHJK', 'LMNPQRST', 'VWXZBCDF', 'GHJKLMNP', 'QRSTVWXZ']

/** Returns the `number`-th lobby, with its own id and code. */
const lobbyOf = (number: number, changes: Partial<Lobby> = {}): Lobby => ({
  ...aLobby({ id: `${number}`.padStart(22, 'L'), code: CODES[number] as string }),
  createdAt: START + number,
  ...changes,
})

/**
 * The test suite for every store, for one process and (with `other`) for many. Call it in the store's test file.
 * @param open returns an empty store.
 */
export function testLobbyStore(name: string, open: () => Promise<StoreUnderTest>): void {
  const using = (check: (stores: StoreUnderTest) => Promise<void>) => async () => {
    const stores = await open()
    try {
      await check(stores)
    } finally {
      await stores.close?.()
    }
  }

  describe(`stored lobbies of ${name}`, () => {
    test(
      `${name} returns lobbies as equal plain data to every caller`,
      using(async ({ store, other }) => {
        const lobby = lobbyOf(0)
        expect(await store.create(lobby, START)).toBe(true)
        for (const each of [store, other]) {
          expect(await each.get(lobby.id)).toMatchObject({ version: 1, lobby: JSON.parse(JSON.stringify(lobby)) })
          expect(await each.getByCode(lobby.code)).toMatchObject({ version: 1, lobby: { id: lobby.id } })
        }
        expect(await other.get('nobody')).toBeUndefined()
        expect(await other.getByCode('ZZZZZZZZ')).toBeUndefined()
        expect(await other.ids()).toEqual([lobby.id])
      }),
    )

    test(
      `${name} accepts only lobbies with an id and a code that no other has`,
      using(async ({ store, other }) => {
        const lobby = lobbyOf(0)
        expect(await store.create(lobby, START)).toBe(true)
        expect(await other.create({ ...lobbyOf(1), id: lobby.id }, START)).toBe(false)
        expect(await other.create({ ...lobbyOf(1), code: lobby.code }, START)).toBe(false)
        expect(await other.ids()).toEqual([lobby.id])
        expect(await other.getByCode(CODES[1] as string)).toBeUndefined()
        const raced = await Promise.all(
          [0, 1, 2, 3].map((number) =>
            (number % 2 === 0 ? store : other).create(
              { ...lobbyOf(number), id: `id-${number}`, code: CODES[4] as string },
              START,
            ),
          ),
        )
        expect(raced.filter(Boolean)).toHaveLength(1)
      }),
    )

    test(
      `${name} changes a lobby only from the version that was read`,
      using(async ({ store, other }) => {
        const lobby = lobbyOf(0)
        await store.create(lobby, START)
        const changed = { ...lobby, dataVersion: 2 }
        expect(await store.replace(changed, 2, START)).toBe(false)
        expect(await store.replace(changed, 1, START)).toBe(true)
        expect(await other.replace({ ...lobby, dataVersion: 3 }, 1, START)).toBe(false)
        expect(await other.get(lobby.id)).toMatchObject({ version: 2, lobby: { dataVersion: 2 } })
        expect(await other.replace(lobbyOf(1), 1, START)).toBe(false)
        expect(await other.get(lobbyOf(1).id)).toBeUndefined()
      }),
    )

    test(
      `${name} records heartbeats of members only at the version that was read`,
      using(async ({ store, other }) => {
        const lobby = lobbyOf(0, { dataVersion: 7 })
        await store.create(lobby, START)
        const seen = (at: number) => ({ ...lobby, members: lobby.members.map((one) => ({ ...one, lastSeenAt: at })) })
        expect(await store.noteSeen(seen(START + 5), 2, 'ann', START + 9)).toBe(false)
        expect(await store.noteSeen(seen(START + 5), 1, 'ann', START + 9)).toBe(true)
        expect(await other.noteSeen(seen(START + 6), 1, 'ann', START + 9)).toBe(false)
        expect(await other.replace(lobby, 1, START)).toBe(false)
        expect(await other.get(lobby.id)).toMatchObject({
          version: 2,
          lobby: { dataVersion: 7, members: [{ id: 'ann', lastSeenAt: START + 5 }] },
        })
        expect([await other.due(START + 8, 1), await other.due(START + 9, 1)]).toEqual([[], [lobby.id]])
        expect(await other.noteSeen(seen(START + 6), 2, 'ann', START + 9)).toBe(true)
        expect(await other.noteSeen(lobbyOf(1), 1, 'ann', START)).toBe(false)
      }),
    )

    test(
      `${name} keeps a lobby until it is deleted, which frees its code`,
      using(async ({ store, other }) => {
        const lobby = lobbyOf(0)
        await store.create(lobby, START)
        await store.replace({ ...lobby, dataVersion: 2 }, 1, START)
        expect(await other.delete(lobby.id, 1)).toBe(false)
        expect(await other.delete(lobby.id, 2)).toBe(true)
        expect(await store.delete(lobby.id, 2)).toBe(false)
        expect(await store.replace(lobby, 2, START)).toBe(false)
        expect(await store.get(lobby.id)).toBeUndefined()
        expect(await store.due(START + 1, 10)).toEqual([])
        expect(await store.create({ ...lobbyOf(1), code: lobby.code }, START)).toBe(true)
      }),
    )
  })

  describe(`concurrent changes in ${name}`, () => {
    test(
      `exactly one of several concurrent changes of a version succeeds in ${name}`,
      using(async ({ store, other }) => {
        const lobby = lobbyOf(0)
        await store.create(lobby, START)
        const changes = Array.from({ length: 10 }, (_, index) =>
          (index % 2 === 0 ? store : other).replace({ ...lobby, dataVersion: index + 2 }, 1, START),
        )
        expect((await Promise.all([...changes, store.delete(lobby.id, 1)])).filter(Boolean)).toHaveLength(1)
      }),
    )
  })

  describe(`the search in ${name}`, () => {
    test(
      `${name} finds lobbies that are due, the earliest first`,
      using(async ({ store, other }) => {
        for (const [number, at] of [
          [0, 300],
          [1, 100],
          [2, 200],
          [3, 400],
        ] as const)
          await store.create(lobbyOf(number), START + at)
        expect(await other.due(START + 99, 10)).toEqual([])
        expect(await other.due(START + 300, 10)).toEqual([lobbyOf(1).id, lobbyOf(2).id, lobbyOf(0).id])
        expect(await other.due(START + 300, 2)).toEqual([lobbyOf(1).id, lobbyOf(2).id])
        await store.replace(lobbyOf(1), 1, START + 1000)
        expect(await other.due(START + 300, 10)).toEqual([lobbyOf(2).id, lobbyOf(0).id])
      }),
    )

    test(
      `${name} finds public lobbies that can be joined, newest first, page by page`,
      using(async ({ store, other }) => {
        await store.create(lobbyOf(0, { data: { map: 'ice' } }), START)
        await store.create(lobbyOf(1, { visibility: 'private' }), START)
        await store.create(lobbyOf(2, { data: { map: 'ice', fog: true } }), START)
        await store.create(lobbyOf(3, { data: { map: 'desert' }, maxPlayers: 1 }), START)
        await store.create(lobbyOf(4, { data: { map: 'ice' }, phase: 'running', lateJoin: false }), START)
        const list = async (query: Partial<Parameters<LobbyStore['listPublic']>[0]>) => {
          const { lobbies, next } = await other.listPublic({
            data: {},
            minFree: 0,
            limit: 10,
            after: undefined,
            ...query,
          })
          return { numbers: lobbies.map(({ id }) => Number(id.at(-1))), next }
        }
        expect(await list({})).toEqual({ numbers: [3, 2, 0], next: undefined })
        expect((await list({ minFree: 1 })).numbers).toEqual([2, 0])
        expect((await list({ data: { map: 'ice' } })).numbers).toEqual([2, 0])
        expect((await list({ data: { map: 'ice', fog: true } })).numbers).toEqual([2])
        expect((await list({ data: { fog: 'true' } })).numbers).toEqual([])

        const first = await list({ limit: 2 })
        expect(first.numbers).toEqual([3, 2])
        // Lobbies added and removed meanwhile do not affect the others.
        await store.delete(lobbyOf(2).id, 1)
        await store.replace(lobbyOf(4), 1, START)
        expect(await list({ limit: 2, after: first.next })).toEqual({ numbers: [0], next: undefined })
        expect((await list({})).numbers).toEqual([4, 3, 0])
        expect((await list({ after: 'no such page' })).numbers).toEqual([])
      }),
    )
  })

  test(
    `${name} knows which lobbies a player is in`,
    using(async ({ store, other }) => {
      const idsOf = async (playerId: string) => (await other.idsOf(playerId)).toSorted()
      const [first, second] = [lobbyOf(0), lobbyOf(1)]
      const host = first.hostId as string
      await store.create(first, START)
      await store.create(second, START)
      expect(await idsOf(host)).toEqual([first.id, second.id].toSorted())
      expect(await idsOf('nobody')).toEqual([])
      const result = step(join('zoe'), first, START, defaultRules)
      if (isRefusal(result)) throw new Error('the player could not join the lobby')
      await store.replace(result.lobby, 1, START)
      expect(await idsOf('zoe')).toEqual([first.id])
      await store.replace({ ...result.lobby, members: result.lobby.members.filter(({ id }) => id !== 'zoe') }, 2, START)
      expect(await idsOf('zoe')).toEqual([])
      await store.delete(second.id, 1)
      expect(await idsOf(host)).toEqual([first.id])
      await store.replace({ ...first, phase: 'closed' }, 3, START)
      expect(await idsOf(host)).toEqual([])
      await store.delete(first.id, 4)
      expect(await idsOf(host)).toEqual([])
    }),
  )

  test(
    `${name} notifies watchers of every change, until they stop`,
    using(async ({ store, other }) => {
      const lobby = lobbyOf(0)
      await store.create(lobby, START)
      await store.create(lobbyOf(1), START)
      let told = 0
      let wake = () => {}
      const stop = other.watch(lobby.id, () => {
        told += 1
        wake()
      })
      const next = () =>
        new Promise<void>((resolve) => {
          wake = resolve
        })
      const first = next()
      await store.replace(lobby, 1, START)
      await first
      const second = next()
      await store.replace(lobbyOf(1), 1, START)
      await store.delete(lobby.id, 2)
      await second
      stop()
      const before = told
      await store.create(lobby, START)
      await store.replace(lobby, 1, START)
      expect(await other.get(lobby.id)).toMatchObject({ version: 2 })
      expect(told).toBe(before)
    }),
  )
}
