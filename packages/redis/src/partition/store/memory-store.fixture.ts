import type { Clock } from '@muster/core/clock'
import { assertWithinBytes, DEFAULT_BOUNDS, partsOf } from './commit-script.js'
import type { MemoryPartition } from './memory-partition.fixture.js'
import { MOST_ENTRIES } from '../../stream/follow-stream.js'
import type { ScanPage, CommitOutcome, PartitionStore, StoredTicket } from './store.js'
import type { TailOptions } from '../../stream/follow-stream.js'

/**
 * Awaited before and after a step takes effect, so that a simulation can delay or end its caller there, or lose the
 * reply. If it throws, the caller gets the error.
 */
export type StoreHook = (method: keyof PartitionStore, moment: 'before' | 'after') => void | Promise<void>

/** Opens the store of one process of the partition. Every call returns later, like over the network. */
export function openMemoryStore(partition: MemoryPartition, clock: Clock, hook: StoreHook = () => {}): PartitionStore {
  const closing = new AbortController()

  const step = async <T>(method: keyof PartitionStore, effect: () => T): Promise<T> => {
    await hook(method, 'before')
    const result = effect()
    await hook(method, 'after')
    return result
  }
  const untilClosed = ({ blockMs, signal }: TailOptions): TailOptions => ({
    blockMs,
    signal: signal === undefined ? closing.signal : AbortSignal.any([closing.signal, signal]),
  })
  /** Pages by key, so that nothing is skipped if an entry is removed. */
  const page = <T>(map: ReadonlyMap<string, T>, at = ''): ScanPage<T> => {
    const keys = [...map.keys()].toSorted().filter((key) => key > at)
    const items = keys.slice(0, BATCH).map((key) => map.get(key) as T)
    return { items, next: keys.length > BATCH ? keys[BATCH - 1] : undefined }
  }

  return {
    create: async (tickets) => {
      for (const { body } of tickets) assertWithinBytes('body', body, DEFAULT_BOUNDS.maxBodyBytes)
      return step('create', () => partition.create(tickets))
    },
    createTogether: async (tickets) => {
      for (const { body } of tickets) assertWithinBytes('body', body, DEFAULT_BOUNDS.maxBodyBytes)
      return step('createTogether', () => partition.createTogether(tickets))
    },
    read: (ids) => step('read', () => ids.map((id) => partition.tickets.get(id))),
    cancel: (id, players, by) => step('cancel', () => partition.cancel(id, players, by)),
    playerTickets: (ids) => step('playerTickets', () => ids.map((id) => partition.players.get(id) ?? [])),

    ask: async (text) => {
      assertWithinBytes('ask', text, DEFAULT_BOUNDS.maxAskBytes)
      return step('ask', () => partition.inbox.add({ kind: 'ask', text }))
    },
    answered: (follower, begins) =>
      step('answered', () =>
        partition
          .repliesTo(follower)
          .all()
          .findLast((text) => text.startsWith(begins)),
      ),

    inbox: async (after, options) => {
      await hook('inbox', 'before')
      const cursor = after ?? partition.inbox.end()
      if (after !== undefined) await partition.inbox.wait(cursor, untilClosed(options), clock)
      const read = partition.inbox.read(cursor, MOST_ENTRIES)
      await hook('inbox', 'after')
      return { ...read, isBehind: read.entries.length >= MOST_ENTRIES }
    },
    changes: async (after, follower, options) => {
      await hook('changes', 'before')
      const [cursor, answered] = (after ?? `${partition.changes.end()}|${partition.repliesTo(follower).end()}`).split(
        '|',
      ) as [string, string]
      const hasReplies = partition.repliesTo(follower).read(answered).entries.length > 0
      if (after !== undefined && !hasReplies) await partition.changes.wait(cursor, untilClosed(options), clock)
      const changes = partition.changes.read(cursor, MOST_ENTRIES)
      const replies = partition.repliesTo(follower).read(answered)
      await hook('changes', 'after')
      return {
        cursor: `${changes.cursor}|${replies.cursor}`,
        gap: changes.gap,
        tickets: changes.entries.flat(),
        replies: replies.entries,
        isBehind: changes.entries.length >= MOST_ENTRIES,
      }
    },

    acquire: (owner, leaseMs) => step('acquire', () => partition.acquire(owner, leaseMs)),
    renew: (token, leaseMs) => step('renew', () => partition.renew(token, leaseMs)),
    release: (token) => step('release', () => partition.release(token)),
    fence: (token) => step('fence', () => partition.fence(token)),

    commit: async (token, commit) => {
      const outcome: { refused: CommitOutcome['refused'][number][]; unmet: CommitOutcome['unmet'][number][] } = {
        refused: [],
        unmet: [],
      }
      for (const part of partsOf(commit)) {
        const { refused, unmet } = await step('commit', () => partition.commit(token, part))
        outcome.refused.push(...refused)
        outcome.unmet.push(...unmet)
      }
      return outcome
    },
    sweep: (token, olderThanMs, most) => step('sweep', () => partition.sweep(token, olderThanMs, most)),

    loadTickets: (at) =>
      step('loadTickets', () => {
        const { items, next } = page(partition.tickets, at)
        return { items: items.filter(isOpen), next }
      }),
    loadHosting: (at) =>
      step('loadHosting', () => {
        const { items, next } = page(partition.hosting, at)
        return { items: items.map(({ key, text }) => ({ key, text })), next }
      }),
    convert: (token) => step('convert', () => partition.fence(token)),
    loadNotes: (at) => step('loadNotes', () => page(partition.notes, at)),
    readPartitionRecords: (keys) =>
      step('readPartitionRecords', () => keys.map((key) => partition.notes.get(key)?.text)),
    hasGoneBack: async () => false,
    loadBackfills: (at) => step('loadBackfills', () => page(partition.backfills, at)),

    setInForce: (token, text) => step('setInForce', () => partition.setInForce(token, text)),
    getInForce: () => step('getInForce', () => partition.inForce()),
    time: () => step('time', () => partition.now()),
    close: async () => closing.abort(new Error('the store was closed')),
  }
}

/** Number of items in a batch. */
const BATCH = 256

const isOpen = ({ header }: StoredTicket) => header?.startsWith('C') !== true
