import { keyOf, splitRecordOf3 } from '@muster/matchmaker/internal'
import { createBatcher, type RedisConnection, RedisError, type Script } from '../../connection/index.js'
import { StreamTail } from '../../stream/follow-stream.js'
import { createAssignments } from './assignments.js'
import { NUMBERS } from './commit-numbers.js'
import { assertWithinBytes, DEFAULT_BOUNDS, partyWeight, type StoreBounds } from './commit-script.js'
import { PartitionNewer } from '../partition-errors.js'
import { readStored } from './header.js'
import { FORMAT, partitionKeys } from './partition-keys.js'
import { type Replicas, RedisCommits } from './redis-commits.js'
import { askScript, cancelScript, createScript, createWords, readCreated, storedTicket } from './ticket-scripts.js'
import {
  acquireScript,
  answeredScript,
  convertScript,
  fenceScript,
  loadTicketsScript,
  readScanned,
  releaseScript,
  renewScript,
  runFenced,
  setInForceScript,
  sweepScript,
} from './lease-scripts.js'
import type { ScanPage, TicketCreateOutcome, NewTicket, PartitionStore, StoredHosting, StoredTicket } from './store.js'
import { readChanges, readInbox } from './streams.js'

export interface RedisStoreOptions {
  readonly redis: RedisConnection
  /** Name of the partition. All processes with the same name share tickets. */
  readonly name: string
  readonly bounds?: Partial<StoreBounds> | undefined
  /** Default: commits wait for no replicas. */
  readonly replicas?: Replicas | undefined
}

/** Opens a partition in Redis. Closing it leaves the connection open. */
export function createRedisStore(options: RedisStoreOptions): PartitionStore {
  const { redis, name, replicas } = options
  const bounds: StoreBounds = { ...DEFAULT_BOUNDS, ...options.bounds }
  const keys = partitionKeys(redis.keys(name))
  const assignments = createAssignments(redis, keys)
  const { headers, bodies, players, locks, ended, epoch } = keys
  const cancelKeys = [headers, bodies, players, locks, keys.inbox, keys.changes, ended]
  const sweepKeys = [epoch, headers, bodies, ended, keys.assignments, keys.inbox, keys.changes]
  const commits = new RedisCommits({ redis, name, keys, bounds, assignments, replicas })
  const [inbox, changes] = [new StreamTail(redis), new StreamTail(redis)]

  const command = (key: string, ...words: readonly (string | number)[]) => redis.command(key, words)
  const fields = async (key: string, names: readonly string[]) =>
    (await command(key, 'HMGET', key, ...names)) as readonly (string | null)[]

  /** Runs a script of a leader. */
  const fenced = <T>(script: Script<T>, of: readonly string[], words: readonly (string | number)[]) =>
    runFenced(redis, name, script, of, words)

  const wholeOutcome = async (outcome: TicketCreateOutcome, index: number, tickets: readonly NewTicket[]) => {
    if (outcome.kind !== 'exists') return outcome
    const [ticket] = await assignments.wholeTickets([outcome.ticket])
    if (ticket !== undefined) return { kind: 'exists', ticket } as const
    // The existing ticket was swept meanwhile.
    const [again] = await create([tickets[index] as NewTicket])
    return again as TicketCreateOutcome
  }
  const createNow = async (tickets: readonly NewTicket[], areTogether: boolean): Promise<TicketCreateOutcome[]> => {
    const words = createWords(tickets, bounds, areTogether)
    const reply = await redis.run(createScript, [bodies, players, keys.inbox, headers], words)
    return Promise.all(readCreated(reply, tickets).map((outcome, index) => wholeOutcome(outcome, index, tickets)))
  }
  const create = createBatcher((tickets: readonly NewTicket[]) => createNow(tickets, false), weightOf)
  const assertBodies = (tickets: readonly NewTicket[]) => {
    for (const { body } of tickets) assertWithinBytes('body', body, bounds.maxBodyBytes)
  }

  const read = createBatcher(async (ids: readonly string[]) => {
    // Read headers first. A ticket that is swept in between then has no body and counts as gone, instead of as
    // unchanged.
    const [heads, values] = await Promise.all([fields(headers, ids), fields(bodies, ids)])
    return assignments.wholeTickets(ids.map((id, index) => ticketOf(id, values[index], heads[index])))
  })

  const playerTickets = createBatcher(async (ids: readonly string[]) =>
    (await fields(players, ids)).map((entry) => entry?.split(' ') ?? []),
  )

  const readPartitionRecords = createBatcher(async (noteKeys: readonly string[]) =>
    (await fields(keys.notes, noteKeys)).map((text) => text ?? undefined),
  )

  const readInForce = async () => {
    const [text, since, format] = await fields(keys.inForce, ['text', 'since', 'format'])
    if (Number(format ?? FORMAT) > FORMAT) throw new PartitionNewer(Number(format), FORMAT)
    return typeof text !== 'string' ? undefined : { text, since: Number(since) }
  }

  const scan = async <T>(
    key: string,
    at: string | undefined,
    item: (field: string, value: string) => T,
  ): Promise<ScanPage<T>> => readScanned(await command(key, 'HSCAN', key, at ?? '0', 'COUNT', BATCH), item)

  return {
    create: async (tickets) => {
      assertBodies(tickets)
      return create(tickets)
    },
    createTogether: async (tickets) => {
      assertBodies(tickets)
      return createNow(tickets, true)
    },
    read,
    cancel: async (id, playerIds, by = '') => {
      const words = [bounds.inboxEntries, bounds.changeEntries, id, by, ...playerIds]
      const outcome = await redis.run(cancelScript, cancelKeys, words)
      return outcome.kind === 'late' ? { kind: 'late', header: await assignments.whole(outcome.header) } : outcome
    },
    playerTickets,

    ask: async (text) => {
      assertWithinBytes('ask', text, bounds.maxAskBytes)
      if (text.length <= SHORT_ASK) await redis.run(askScript, [keys.inbox], [bounds.inboxEntries, text])
      else await command(keys.inbox, 'XADD', keys.inbox, 'MAXLEN', '~', bounds.inboxEntries, '*', '?', text)
    },
    answered: (follower, begins) => redis.run(answeredScript, [keys.repliesTo(follower)], [begins]),
    inbox: (after, tailing) => readInbox(inbox, keys.inbox, after, tailing),
    changes: (after, follower, tailing) =>
      readChanges(changes, [keys.changes, keys.repliesTo(follower)], after, tailing),

    acquire: async (owner, leaseMs) => {
      try {
        return await redis.run(acquireScript, [keys.epoch, keys.lease, keys.inForce], [owner, leaseMs, FORMAT])
      } catch (error) {
        if (error instanceof RedisError && error.code === 'NEWER') await readInForce()
        throw error
      }
    },
    renew: (token, leaseMs) => {
      const of = [keys.epoch, keys.lease, keys.inForce]
      return redis.run(renewScript, of, [token, leaseMs, commits.numbers.done(token)])
    },
    release: (token) => redis.run(releaseScript, [keys.lease], [token]),
    fence: (token) => fenced(fenceScript, [keys.epoch], [token]),

    commit: (token, wanted) => commits.commit(token, wanted),
    sweep: (token, olderThanMs, most) => fenced(sweepScript, sweepKeys, [token, olderThanMs, most, bounds.entryMs]),

    loadTickets: async (at) => {
      const { items, next } = await redis.run(loadTicketsScript, [keys.bodies, keys.headers], [at ?? '0', BATCH])
      return { items: (await assignments.wholeTickets(items)).filter((ticket) => ticket !== undefined), next }
    },
    // Records of format 1 are read first: those that are converted meanwhile are found in the current format.
    loadHosting: async (at = `${OF_FORMAT_1}0`) => {
      const present = (cursor: string) => scan(keys.hosting, cursor, (key, text) => ({ key, text }))
      if (!at.startsWith(OF_FORMAT_1)) return present(at)
      const { items, next } = await scan(keys.records1, at.slice(OF_FORMAT_1.length), (_, text) => recordsIn(text))
      if (next !== undefined) return { items: items.flat(), next: OF_FORMAT_1 + next }
      const first = await present('0')
      return { ...first, items: [...items.flat(), ...first.items] }
    },
    loadNotes: (at) => scan(keys.notes, at, (key, text) => ({ key, text })),
    readPartitionRecords,
    loadBackfills: (at) => scan(keys.backfills, at, (backfillId, text) => ({ backfillId, text })),

    hasGoneBack: () => commits.numbers.hasGoneBack(() => fields(keys.inForce, NUMBERS)),

    convert: async (token) => {
      let at: string | undefined
      do {
        const { items, next } = await scan(keys.records1, at, (matchId, text) => ({ matchId, text }))
        if (items.length > 0)
          await fenced(convertScript, [epoch, keys.records1, keys.hosting], [token, ...items.flatMap(convertWords)])
        at = next
      } while (at !== undefined)
    },

    setInForce: async (token, text) => ({
      text,
      since: await fenced(setInForceScript, [keys.epoch, keys.inForce], [token, text, FORMAT]),
    }),
    getInForce: readInForce,
    time: async () => {
      const [seconds, micros] = (await command(keys.epoch, 'TIME')) as readonly string[]
      return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000)
    },
    close: async () => {
      await commits.close()
      await Promise.all([inbox.close(), changes.close()])
    },
  }
}

/** Returns the words of a record of format 1: see `convertScript`. */
function convertWords({ matchId, text }: { readonly matchId: string; readonly text: string }): (string | number)[] {
  const records = recordsIn(text)
  return [matchId, records.length, ...records.flatMap((one) => [one.key, one.text])]
}

/** Returns the records that a record of format 1 contains. */
function recordsIn(text: string): readonly StoredHosting[] {
  const { server, match } = splitRecordOf3(readStored(text, 'record'))
  return [server, match].flatMap((one) => (one === undefined ? [] : [{ key: keyOf(one), text: JSON.stringify(one) }]))
}

/** Prefix of cursors while records of format 1 are read. */
const OF_FORMAT_1 = '1:'

/** Maximum length of an RPC request that is accepted while Redis is full. */
const SHORT_ASK = 2048

/** Approximate number of items in a batch of `load…`. */
const BATCH = 512

/** Weighs bytes and players of a ticket, so that a step stays short. */
const weightOf = ({ body, players }: NewTicket) => 1 + Math.floor(body.length / 8192) + partyWeight(players.length)

const ticketOf = (
  id: string,
  value: string | null | undefined,
  header: string | null | undefined,
): StoredTicket | undefined => (typeof value !== 'string' ? undefined : storedTicket(id, value, header ?? null))
