import { Unavailable } from '../errors.js'
import { afterEntries, fleetOf, type HostingEntry, type HostingRecord, keyOf, putChanged } from '../store/entries.js'
import { FileStore, type FileStoreOptions } from '../store/file-store.js'
import { createServerLog } from '../store/server-log.js'
import { readStore } from '../store/store-format.js'
import type { ServerLog } from '../store/server-log.js'
import type { Store, StoreRecord } from '../store/store.js'
import { delayMs, type Life } from './life.fixture.js'
import { chance, oneOf } from './random-faults.fixture.js'
import type { CopiedLog, OpenStorage, OpenStorageOf, Storage, Ticket } from './storage.fixture.js'

interface DiskOptions {
  readonly random: () => number
  readonly fsync: 'always' | 'intents'
  /** Share of syncs that are slow. */
  readonly slow: number
  readonly isFull: () => boolean
}

const PATH = 'simulated'

/** Creates the store of a schedule on a disk with random faults. */
export const drawDisk: OpenStorageOf = ({ random, isCalm }) => {
  const isOftenFull = chance(random, 0.2)
  return createDisk({
    random,
    fsync: oneOf(random, 'intents', 'always'),
    slow: oneOf(random, 0, 0.05, 0.3),
    isFull: () => isOftenFull && !isCalm() && chance(random, 0.1),
  })
}

/** Creates a store on a simulated disk. A power failure removes data that was not synced. */
function createDisk({ random, fsync, slow, isFull }: DiskOptions): Storage {
  let text = ''
  /** Number of synced characters from the start of the file. Each takes one byte. */
  let forced = 0
  /** Number of characters ever written, and the ranges of those that were cut off. */
  let written = 0
  let losses: { readonly from: number; readonly to: number }[] = []

  const append = (more: string) => {
    text += more
    written += more.length
  }
  const cutTo = (length: number) => {
    losses.push({ from: written - (text.length - length), to: written })
    text = text.slice(0, length)
    forced = Math.min(forced, length)
  }

  const fileOf = (life: Life): FileStoreOptions['file'] => ({
    size: () => text.length,
    isForced: () => forced === text.length,
    isUnsafe: () => false,
    append: (more, isForced) => {
      if (life.isDead()) return
      if (isFull()) throw new Unavailable('the disk is full')
      const death = life.writes()
      if (death === 'before') return life.kill('before')
      append(death === 'torn' ? more.slice(0, Math.floor(random() * more.length)) : more)
      if (death !== undefined) return life.kill(death)
      if (isForced) forced = text.length
    },
    force: async () => {
      const size = text.length
      await life.clock.sleep(delayMs(random, slow, 8))
      forced = Math.max(forced, Math.min(size, text.length))
    },
    replace: async (parts, { rest, replaced }, isForced) => {
      const fresh = [...parts].join('')
      await life.clock.sleep(delayMs(random, slow, 8))
      const last = rest()
      text = fresh + last
      forced = isForced.rest ? text.length : isForced.parts ? fresh.length : 0
      replaced()
    },
    place: async () => 'there',
    close: async () => {},
  })
  const lock = { isInPlace: async () => true, release: async () => {} }
  const read = () => readStore(PATH, Buffer.from(text, 'latin1'))

  const open = (life: Life): Store => {
    const { records, goodBytes, isStale } = read()
    // `openStore` also cuts damaged lines off the end of the file.
    text = text.slice(0, goodBytes)
    forced = text.length
    const store = new FileStore({
      path: PATH,
      fsync,
      compactAtBytes: 20_000,
      clock: life.clock,
      lock,
      file: fileOf(life),
      stored: records,
      damages: [],
    })
    if (isStale) void store.rewrite()
    store.attach({ name: 'schedules', problem: () => {} })
    return store
  }

  return {
    deaths: ['before', 'after', 'torn', 'power', 'power'],
    open: (life) => openTickets(open(life)),
    mark: () => {
      const at = written
      const from = losses.length
      return { has: () => losses.slice(from).every((loss) => at <= loss.from || at > loss.to) }
    },
    copy: () => {
      const { records } = read()
      const tickets = Array.from(records.get('ticket')?.values() ?? [], ticketIn)
      const all = [...(records.get('server')?.values() ?? []), ...(records.get('match')?.values() ?? [])]
      return copiedLog(
        all.map(({ value, change = '{}' }) => ({ ...JSON.parse(value), ...JSON.parse(change) }) as HostingRecord),
        tickets,
        [...(records.get('result')?.keys() ?? [])],
      )
    },
    ended: (how) => {
      if (how === 'power') cutTo(forced + Math.floor(random() * (text.length - forced + 1)))
      losses = losses.slice(-20)
    },
  }
}

const ticketIn = ({ value, change = value }: StoreRecord) => JSON.parse(change) as Ticket

function openTickets(store: Store): OpenStorage {
  const kept = new Map<string, Ticket>()
  const tickets = store.records('ticket', function* () {
    for (const [key, ticket] of kept) yield { key, value: JSON.stringify(ticket) }
  })
  for (const one of tickets.stored()) kept.set(one.key, ticketIn(one))
  const done = new Set<string>()
  const results = store.records('result', function* () {
    for (const key of done) yield { key, value: '{}' }
  })
  for (const { key } of results.stored()) done.add(key)
  return {
    serverLog: createServerLog(store),
    tickets: [...kept.values()],
    put: (ticket) => {
      kept.set(ticket.id, ticket)
      tickets.change(ticket.id, JSON.stringify(ticket))
    },
    create: async (ticket) => {
      tickets.write([{ key: ticket.id, value: JSON.stringify(ticket) }])
      kept.set(ticket.id, ticket)
    },
    flushed: async () => {
      store.flush()
      if (store.isFailing()) throw new Unavailable('not written')
    },
    putResult: (matchId) => {
      if (done.has(matchId)) return
      done.add(matchId)
      results.put(matchId, '{}')
    },
    fenced: (sources) => sources,
    advance: () => void store.advance(),
    close: () => {},
  }
}

/** Creates a server log in memory that contains these records. */
export function copiedLog(
  records: readonly HostingRecord[],
  tickets: readonly Ticket[],
  results: readonly string[],
): CopiedLog {
  const kept = new Map<string, HostingRecord>()
  for (const record of records) kept.set(keyOf(record), record)
  const written: HostingEntry[] = []
  const log: ServerLog = {
    resumes: true,
    append: (entries) => {
      const changed = afterEntries(kept, entries)
      const isChanged = (key: string) =>
        changed.has(key) && JSON.stringify(changed.get(key)) !== JSON.stringify(kept.get(key))
      written.push(...entries.filter((entry) => isChanged(keyOf(entry))))
      putChanged(kept, changed)
    },
    open: () => fleetOf(kept.values()),
  }
  return { log, written: () => written, tickets, results }
}
