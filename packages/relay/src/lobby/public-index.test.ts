import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Attributes, has, type Lobby, newLobby } from './lobby.js'
import { createPublicIndex } from './public-index.js'
import { isListed, type PublicQuery } from './store.js'

const START = Date.UTC(2026, 0, 1)
const lobbyOf = (number: number, change: Partial<Lobby> = {}): Lobby => ({
  ...newLobby(
    {
      id: String(number),
      code: String(number),
      visibility: 'public',
      maxPlayers: 4,
      entry: { kind: 'open' },
      lateJoin: true,
      requireReady: true,
      outcome: 'relay',
      data: {},
      host: { id: 'ann', ip: '192.0.2.1', data: {} },
    },
    START,
  ),
  ...change,
})
const anyone = { data: {}, minFree: 0, limit: 20, after: undefined } satisfies PublicQuery

/** Reads all pages. */
function allPages(index: ReturnType<typeof createPublicIndex>, query: PublicQuery): readonly string[][] {
  const pages: string[][] = []
  for (let after = query.after; ;) {
    const { lobbies, next } = index.page({ ...query, after })
    pages.push(lobbies.map(({ id }) => id))
    if (next === undefined) return pages
    after = next
  }
}

const data: fc.Arbitrary<Attributes> = fc.dictionary(
  fc.constantFrom('map', 'mode'),
  fc.constantFrom<string | number | boolean>('ice', '1', 1, true),
  { maxKeys: 2 },
)
const change = fc.record({
  number: fc.integer({ min: 1, max: 12 }),
  data,
  maxPlayers: fc.integer({ min: 1, max: 3 }),
  visibility: fc.constantFrom<'public' | 'private'>('public', 'private'),
  phase: fc.constantFrom<Lobby['phase']>('open', 'running', 'closed'),
  gone: fc.boolean(),
})

test('the pages of the public lobby index equal a filter over all lobbies after any changes', () => {
  fc.assert(
    fc.property(
      fc.array(change, { maxLength: 40 }),
      data,
      fc.integer({ min: 0, max: 2 }),
      fc.integer({ min: 1, max: 3 }),
      (changes, wanted, minFree, limit) => {
        const index = createPublicIndex()
        const lobbies = new Map<number, Lobby>()
        for (const { number, gone, ...facts } of changes) {
          const after = gone ? undefined : lobbyOf(number, facts)
          index.change(number, lobbies.get(number), after)
          if (after === undefined) lobbies.delete(number)
          else lobbies.set(number, after)
        }
        const naive = [...lobbies]
          .toSorted(([a], [b]) => b - a)
          .map(([, lobby]) => lobby)
          .filter(
            (lobby) => isListed(lobby) && lobby.maxPlayers - lobby.members.length >= minFree && has(lobby.data, wanted),
          )
        const pages = allPages(index, { data: wanted, minFree, limit, after: undefined })
        expect(pages.flat()).toEqual(naive.map(({ id }) => id))
        expect(pages.every((page) => page.length <= limit)).toBe(true)
      },
    ),
  )
})

test('a page of the lobby index ends after 500 entries read, and the next continues without loss or repetition', () => {
  const index = createPublicIndex()
  for (let number = 1; number <= 3000; number += 1) {
    // Half of the lobbies have the first value, a third the second, and a sixth both.
    const values = { ...(number % 2 === 0 ? { map: 'ice' } : {}), ...(number % 3 === 0 ? { mode: 'ctf' } : {}) }
    index.change(
      number,
      undefined,
      lobbyOf(number, { data: values, maxPlayers: number % 6 === 0 && number > 30 ? 2 : 8 }),
    )
  }
  const pages = allPages(index, { ...anyone, data: { map: 'ice', mode: 'ctf' }, minFree: 3 })
  expect(pages.flat()).toEqual(['30', '24', '18', '12', '6'])
  expect(pages.length).toBe(2)
  expect(pages[0]).toEqual([])
})

test('full lobbies do not count against the entries read for a page of the lobby index', () => {
  const index = createPublicIndex()
  index.change(1, undefined, lobbyOf(1))
  for (let number = 2; number <= 2000; number += 1) index.change(number, undefined, lobbyOf(number, { maxPlayers: 1 }))
  expect(allPages(index, { ...anyone, minFree: 1 })).toEqual([['1']])
})
