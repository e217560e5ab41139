import { expect } from 'vitest'
import type { StoreBounds } from '../commit-script.js'
import { encodeHeader, type StoredTicketState } from '../header.js'
import type { NewTicket, PartitionStore } from '../store.js'

export interface StoresUnderTest {
  readonly store: PartitionStore
  /** The same partition as another process sees it. */
  readonly other: PartitionStore
  /** Advances the store's clock. */
  readonly pass: (ms: number) => Promise<void>
  /** Loses everything, like FLUSHALL. */
  readonly wipe: () => Promise<void>
  readonly close: () => Promise<void>
}

export type OpenStores = (bounds?: Partial<StoreBounds>) => Promise<StoresUnderTest>

/** Runs a test with its own stores. */
export const using =
  (open: OpenStores, check: (stores: StoresUnderTest) => Promise<void>, bounds: Partial<StoreBounds> = {}) =>
  async () => {
    const stores = await open(bounds)
    try {
      await check(stores)
    } finally {
      await stores.close()
    }
  }

export const aTicket = (id: string, changes: Partial<NewTicket> = {}): NewTicket => ({
  id,
  body: JSON.stringify({ queues: ['ranked'], players: [{ id: `player of ${id}` }], priority: 0 }),
  players: [`player of ${id}`],
  ...changes,
})

export const someIds = (count: number): string[] => Array.from({ length: count }, (_, index) => `t${index}`)

/** Repeats a call, like after a lost reply: the outcome is the same. */
export async function twice<T>(call: () => Promise<T>): Promise<T> {
  const first = await call()
  expect(await call()).toEqual(first)
  return first
}

export async function tokenOf(store: PartitionStore, owner = 'a'): Promise<string> {
  const acquired = await store.acquire(owner, 60_000)
  if (acquired.kind !== 'acquired') throw new Error('another owner holds the lease')
  return acquired.token
}

/** Replies to a follower, in order. */
export async function answer(store: PartitionStore, token: string, follower: string, texts: readonly string[]) {
  await store.commit(token, { replies: texts.map((text) => ({ follower, text })) })
}

/** Creates tickets of these ids, each with a player of its own. */
export async function create(store: PartitionStore, ...ids: readonly string[]): Promise<void> {
  for (const { kind } of await store.create(ids.map((id) => aTicket(id)))) expect(kind).toBe('created')
}

const headerOf = (status: StoredTicketState['status'], version: number, matchId?: string): string =>
  encodeHeader({ version, status, attempts: 0, matchId, queue: matchId === undefined ? undefined : 'ranked' })

export const searching = (version: number): string => headerOf('SEARCHING', version)
export const matched = (version: number, matchId: string): string => headerOf('MATCH_FOUND', version, matchId)
export const assigned = (version: number, matchId: string): string =>
  encodeHeader({
    version,
    status: 'HOST_ASSIGNED',
    attempts: 0,
    matchId,
    queue: 'ranked',
    assignment: { fqdn: `${matchId}.example.com`, publicIp: '203.0.113.7', ports: {}, location: undefined },
  })
export const cancelled = (version: number): string =>
  encodeHeader({ version, status: 'CANCELLED', attempts: 0, cancelledAt: 5, cancelReason: 'expired' })

/** The outcome of a commit without anything refused. */
export const DONE = { refused: [], unmet: [] }

/** Puts tickets into a match, and assigns them. */
export async function assign(
  store: PartitionStore,
  token: string,
  matchId: string,
  ticketIds: readonly string[],
): Promise<void> {
  const write = (header: string) => ticketIds.map((ticketId) => ({ ticketId, header }))
  const hosting = [[{ key: `m:${matchId}`, text: 'assigned', requires: ticketIds, locks: true }]]
  expect(await store.commit(token, { headers: write(matched(2, matchId)), hosting })).toEqual(DONE)
  expect(await store.commit(token, { headers: write(assigned(3, matchId)) })).toEqual(DONE)
}

export const headerIn = async (store: PartitionStore, id: string): Promise<string | undefined> =>
  (await store.read([id]))[0]?.header
