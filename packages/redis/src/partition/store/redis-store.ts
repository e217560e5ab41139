import { keyOf, splitRecordOf3 } from '@muster/matchmaker/internal'
import { createBatcher, type Batcher, type RedisConnection, RedisError, type Script } from '../../connection/index.js'
import { StreamTail } from '../../stream/follow-stream.js'
import { createAssignments } from './assignments.js'
import {
  assertWithinBytes,
  commitScript,
  commitWords,
  DEFAULT_BOUNDS,
  partsOf,
  partyWeight,
  repliesOf,
  type StoreBounds,
} from './commit-script.js'
import { LeaseLost, PartitionNewer } from '../partition-errors.js'
import { readStored } from './header.js'
import { FORMAT, partitionKeys } from './partition-keys.js'
import { askScript, cancelScript, createScript, createWords, readCreated, storedTicket } from './ticket-scripts.js'
import {
  acquireScript,
  answeredScript,
  convertScript,
  fenceScript,
  loadHostingScript,
  loadTicketsScript,
  readScanned,
  releaseScript,
  renewScript,
  setInForceScript,
  sweepScript,
} from './lease-scripts.js'
import type {
  Batch,
  Commit,
  CommitOutcome,
  CreateOutcome,
  NewTicket,
  PartitionStore,
  StoredHosting,
  StoredTicket,
} from './store.js'
import { readChanges, readInbox } from './streams.js'

export interface RedisStoreOptions {
  readonly redis: RedisConnection
  /** Name of the partition. All processes that use it share tickets. */
  readonly name: string
  readonly bounds?: Partial<StoreBounds> | undefined
  /** For `durable` commits: how many replicas must have it, and within how many milliseconds. Default none. */
  readonly replicas?: { readonly atLeast: number; readonly timeoutMs: number } | undefined
}

/** A partition in Redis. Closing it leaves the connection open. */
export function createRedisStore(options: RedisStoreOptions): PartitionStore {
  const { redis, name, replicas } = options
  const bounds: StoreBounds = { ...DEFAULT_BOUNDS, ...options.bounds }
  const keys = partitionKeys(redis.keys(name))
  const assignments = createAssignments(redis, keys)
  const { headers, bodies, players, locks, ended, epoch } = keys
  const cancelKeys = [headers, bodies, players, locks, keys.inbox, keys.changes, ended]
  const sweepKeys = [epoch, headers, bodies, ended, keys.assignments, keys.inbox, keys.changes]
  const written = [headers, bodies, players, keys.hosting, locks, keys.backfills, keys.changes, ended]
  const commitKeys = [epoch, ...written, keys.assignments, keys.notes]
  const [inbox, changes] = [new StreamTail(redis), new StreamTail(redis)]

  const command = (key: string, ...words: readonly (string | number)[]) => redis.command(key, words)
  const fields = async (key: string, names: readonly string[]) =>
    (await command(key, 'HMGET', key, ...names)) as readonly (string | null)[]

  /** Runs a script of a leader. */
  const fenced = async <T>(
    script: Script<T>,
    of: readonly string[],
    words: readonly (string | number)[],
    by = redis,
  ): Promise<T> => {
    try {
      return await by.run(script, of, words)
    } catch (error) {
      throw error instanceof RedisError && error.code === 'DEPOSED' ? new LeaseLost(name) : error
    }
  }

  const wholeOutcome = async (outcome: CreateOutcome, index: number, tickets: readonly NewTicket[]) => {
    if (outcome.kind !== 'exists') return outcome
    const [ticket] = await assignments.wholeTickets([outcome.ticket])
    if (ticket !== undefined) return { kind: 'exists', ticket } as const
    // It was swept since.
    const [again] = await create([tickets[index] as NewTicket])
    return again as CreateOutcome
  }

  const createBy = async (words: (string | number)[], tickets: readonly NewTicket[]) => {
    const reply = await redis.run(createScript, [keys.bodies, keys.players, keys.inbox, keys.headers], words)
    return Promise.all(readCreated(reply, tickets).map((outcome, index) => wholeOutcome(outcome, index, tickets)))
  }
  const create: Batcher<NewTicket, CreateOutcome> = createBatcher(
    (tickets: readonly NewTicket[]) => createBy(createWords(tickets, bounds), tickets),
    weightOf,
  )

  const read = createBatcher(async (ids: readonly string[]) => {
    // The header first: a ticket that is swept in between then has no body, rather than no header.
    const [heads, values] = await Promise.all([fields(headers, ids), fields(bodies, ids)])
    return assignments.wholeTickets(ids.map((id, index) => ticketOf(id, values[index], heads[index])))
  })

  const playerTickets = createBatcher(async (ids: readonly string[]) =>
    (await fields(players, ids)).map((entry) => entry?.split(' ') ?? []),
  )

  const readNotes = createBatcher(async (noteKeys: readonly string[]) =>
    (await fields(keys.notes, noteKeys)).map((text) => text ?? undefined),
  )

  const readInForce = async () => {
    const [text, since, format] = await fields(keys.inForce, ['text', 'since', 'format'])
    if (Number(format ?? FORMAT) > FORMAT) throw new PartitionNewer(Number(format), FORMAT)
    return typeof text !== 'string' ? undefined : { text, since: Number(since) }
  }

  /** Where commits may wait for replicas, they have a connection of their own: a wait holds up what comes after it. */
  let own: Promise<RedisConnection> | undefined
  const committing = async (): Promise<RedisConnection> => {
    if (replicas === undefined) return redis
    own ??= redis.duplicate()
    try {
      return await own
    } catch (error) {
      own = undefined
      throw error
    }
  }

  const replicated = async (by: RedisConnection) => {
    if (replicas === undefined) return
    const { atLeast, timeoutMs } = replicas
    const late = timeoutMs + LATEST_MS
    const has = (await by.command(keys.epoch, ['WAIT', atLeast, Math.ceil(timeoutMs)], late)) as number
    if (has >= atLeast) return
    const message = `partition ${name}: ${has} of ${atLeast} replicas have it after ${timeoutMs} ms`
    throw new RedisError(message, { code: 'NOREPLICAS', outcome: 'unknown' })
  }

  const commit = async (token: string, wanted: Commit): Promise<CommitOutcome> => {
    const parts = partsOf(wanted)
    const by = await committing()
    const outcomes: CommitOutcome[] = []
    // One after another: a script that Redis does not know yet is sent again, and another part might overtake it.
    for (const part of parts) {
      const replies = repliesOf(part)
      const of = [...commitKeys, ...Array.from(replies.keys(), keys.repliesTo)]
      outcomes.push(await fenced(commitScript, of, commitWords(token, part, replies, bounds), by))
    }
    if (wanted.durable === true) await replicated(by)
    const refused = outcomes.flatMap((outcome) => outcome.refused)
    const wholeRefused = async ({ ticketId, header }: (typeof refused)[number]) => ({
      ticketId,
      header: header === undefined ? undefined : await assignments.whole(header),
    })
    return {
      refused: await Promise.all(refused.map(wholeRefused)),
      unmet: outcomes.flatMap(({ unmet }) => unmet),
    }
  }

  const scan = async <T>(
    key: string,
    at: string | undefined,
    item: (field: string, value: string) => T,
  ): Promise<Batch<T>> => readScanned(await command(key, 'HSCAN', key, at ?? '0', 'COUNT', BATCH), item)

  return {
    create: async (tickets) => {
      for (const { body } of tickets) assertWithinBytes('body', body, bounds.maxBodyBytes)
      return create(tickets)
    },
    createTogether: async (tickets) => {
      for (const { body } of tickets) assertWithinBytes('body', body, bounds.maxBodyBytes)
      return createBy(createWords(tickets, bounds, true), tickets)
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
    renew: (token, leaseMs) => redis.run(renewScript, [keys.epoch, keys.lease], [token, leaseMs]),
    release: (token) => redis.run(releaseScript, [keys.lease], [token]),
    fence: (token) => fenced(fenceScript, [keys.epoch], [token]),

    commit,
    sweep: (token, olderThanMs, most) => fenced(sweepScript, sweepKeys, [token, olderThanMs, most, bounds.entryMs]),

    loadTickets: async (at) => {
      const { items, next } = await redis.run(loadTicketsScript, [keys.bodies, keys.headers], [at ?? '0', BATCH])
      return { items: (await assignments.wholeTickets(items)).filter((ticket) => ticket !== undefined), next }
    },
    // Those of format 1 first: what is brought into the present format meanwhile is found there.
    loadHosting: async (at = `${OF_FORMAT_1}0`) => {
      const present = (cursor: string) => redis.run(loadHostingScript, [keys.hosting, keys.locks], [cursor, BATCH])
      if (!at.startsWith(OF_FORMAT_1)) return present(at)
      const { items, next } = await scan(keys.records1, at.slice(OF_FORMAT_1.length), (_, text) => recordsIn(text))
      if (next !== undefined) return { items: items.flat(), next: OF_FORMAT_1 + next }
      const first = await present('0')
      return { ...first, items: [...items.flat(), ...first.items] }
    },
    loadNotes: (at) => scan(keys.notes, at, (key, text) => ({ key, text })),
    readNotes,
    loadBackfills: (at) => scan(keys.backfills, at, (backfillId, text) => ({ backfillId, text })),

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
      const committed = await own?.catch(() => undefined)
      committed?.destroy()
      await Promise.all([inbox.close(), changes.close()])
    },
  }
}

/** The words of a record of format 1: see `convertScript`. */
function convertWords({ matchId, text }: { readonly matchId: string; readonly text: string }): (string | number)[] {
  const records = recordsIn(text)
  return [matchId, records.length, ...records.flatMap((one) => [one.key, one.text])]
}

/** The records that one of format 1 is. */
function recordsIn(text: string): readonly StoredHosting[] {
  const { server, match } = splitRecordOf3(readStored(text, 'record'))
  return [server, match].flatMap((one) =>
    one === undefined ? [] : [{ key: keyOf(one), text: JSON.stringify(one), locked: [] }],
  )
}

/** What cursors begin with while records of format 1 are read. */
const OF_FORMAT_1 = '1:'

/** Milliseconds after the end of a wait at which there must be an answer. */
const LATEST_MS = 5000

/** Length of a question that is taken while Redis is full. */
const SHORT_ASK = 2048

/** About how many items a batch of `load…` has. */
const BATCH = 512

/** Bytes and players of a ticket count, so that a step stays short. */
const weightOf = ({ body, players }: NewTicket) => 1 + Math.floor(body.length / 8192) + partyWeight(players.length)

const ticketOf = (
  id: string,
  value: string | null | undefined,
  header: string | null | undefined,
): StoredTicket | undefined => (typeof value !== 'string' ? undefined : storedTicket(id, value, header ?? null))
