import { NotFound } from '@muster/core'
import { jsonIn } from '@muster/core/internal'
import type { MatchmakerOptions, Ticket } from '@muster/matchmaker'
import {
  createLeader,
  type Leader,
  mapSources,
  fleetOf,
  type HostingRecord,
  keyOf,
  type ServerRecord,
  type StoredFleet,
  type StoredTicket as LoadedTicket,
} from '@muster/matchmaker/internal'
import type { Lease } from '../lease.js'
import {
  cooldownKey,
  cooldownText,
  IDENTITY_KEY,
  loadedOf,
  pauseKey,
  poolPauseKey,
  readPartitionRecords,
  resultKey,
  resultsIn,
  SECRET_KEY,
  viewOf,
} from '../notes.js'
import {
  encodeHeader,
  readStored,
  type ScanPage,
  type InboxEntry,
  type PartitionStore,
  type StoredTicket,
  type TicketChange,
} from '../store/index.js'
import {
  createAssignedTickets,
  createPartitionServerLog,
  type UnassignedPlayer,
  unassignedIn,
  removeGonePlayers,
} from './partition-server-log.js'
import type { Commits } from './commits.js'
import { fencedAllocator, fencedService } from './fenced-sources.js'

/** What a replica gets when its process becomes the leader: the lease, and the commits. */
export interface LeaseWriter {
  readonly lease: Lease
  readonly commits: Commits
}

/** A ticket that a follower has cancelled, and the player who did it if its match was found. */
export interface CancelledTicket {
  readonly ticketId: string
  readonly by?: string | undefined
}

export interface ReplicaOptions {
  /** Creates a master secret. */
  readonly newSecret: () => string
  /** True if records of servers may be lost; see `LeaderOptions.sparesUnknownServers`. */
  readonly sparesUnknownServers?: (() => boolean) | undefined
  /** True if records of the partition of this identity were lost, so that this leader has to replace it. */
  readonly isVoid: (identity: string) => boolean
  /** Called with the identity of the partition when this process becomes the leader; see `IDENTITY_KEY`. */
  readonly identified: (identity: string) => void
  readonly store: PartitionStore
  readonly matchmaker: MatchmakerOptions
  readonly problem: (error: unknown) => void
}

/** Number of tickets that are loaded at a time: some milliseconds of work. */
const LOADED_AT_ONCE = 500

/**
 * This process's copy of a partition's tickets, in a matchmaker that matches nothing until its process leads. The
 * caller runs its methods one at a time.
 */
export class Replica {
  readonly leader: Leader
  readonly #options: ReplicaOptions
  readonly #assigned = createAssignedTickets()
  readonly #stopListening: readonly (() => void)[]
  /** The lease and its commits; undefined until this process leads. */
  #writing: LeaseWriter | undefined
  /** The records that were read when this process became the leader, until the store takes them. */
  #fleet: StoredFleet | undefined
  #secret: string | undefined
  #identity: string | undefined
  /** Results of matches that the previous leader left. */
  #results: ReturnType<typeof resultsIn> = []

  constructor(options: ReplicaOptions) {
    this.#options = options
    const leader = this.#createLeader()
    this.leader = leader
    this.#stopListening = [
      leader.on('queuePaused', ({ queue }) => this.#note(pauseKey(queue), '')),
      leader.on('queueResumed', ({ queue }) => this.#note(pauseKey(queue), undefined)),
      leader.on('poolPaused', ({ pool, paused }) => this.#note(poolPauseKey(pool), paused ? '' : undefined)),
      leader.on('playersLeft', ({ matchId, playerIds }) => {
        for (const ticket of this.#assigned.of(matchId)) {
          const those = idsOf(ticket).filter((id) => playerIds.includes(id))
          if (those.length > 0) this.#commits().left(ticket.id, those)
        }
      }),
    ]
  }

  /** Reads everything stored; later changes arrive by `changed` and `applyInbox`. */
  async load(): Promise<void> {
    const { store } = this.#options
    await eachPage(
      (at) => store.loadTickets(at),
      async (items) => {
        for (let from = 0; from < items.length; from += LOADED_AT_ONCE) {
          this.#loadTickets(items.slice(from, from + LOADED_AT_ONCE))
          // The event loop runs after each part, because the lease has to be renewed meanwhile.
          await new Promise((resolve) => setImmediate(resolve))
        }
      },
    )
  }

  /** Applies changes of tickets by another leader or a follower. */
  async changed(tickets: readonly TicketChange[]): Promise<void> {
    const letters = new Map(tickets.map(({ ticketId, letter }) => [ticketId, letter]))
    const cancelled = [...letters].flatMap(([id, letter]) => (letter === 'C' ? id : []))
    this.leader.unload(cancelled)
    for (const id of cancelled) this.#assigned.remove(id)
    this.#loadTickets(await this.#options.store.read([...letters.keys()].filter((id) => letters.get(id) !== 'C')))
  }

  /** Applies followers' changes except RPC requests. Returns the cancelled tickets. */
  async applyInbox(entries: readonly InboxEntry[]): Promise<readonly CancelledTicket[]> {
    const created = entries.flatMap((entry) => (entry.kind === 'created' ? entry.ticketIds : []))
    const unknown = created.filter((id) => this.leader.getTicket(id) === undefined)
    if (unknown.length > 0) this.#loadTickets(await this.#options.store.read(unknown))
    return entries.filter((entry) => entry.kind === 'cancelled')
  }

  /** Removes running matches that are over; for a process that does not lead. */
  async prune(): Promise<void> {
    const { store } = this.#options
    const before = [...this.#assigned.matches()]
    const running = new Set<string>()
    await eachOf(
      (at) => store.loadHosting(at),
      ({ key }) => {
        if (key.startsWith('m:')) running.add(key.slice(2))
      },
    )
    this.#forgetAllBut(running, before)
  }

  /** Makes this process the leader. Resolves when it has taken over the matches of the previous leader. */
  async lead(writing: LeaseWriter): Promise<void> {
    const { store, matchmaker, newSecret, isVoid, identified } = this.#options
    const { leader } = this
    const before = [...this.#assigned.matches()]
    await store.convert(writing.lease.token)
    const fleet = await this.#readFleet()
    this.#fleet = fleet
    const unassigned: readonly UnassignedPlayer[] = fleet.matches.flatMap((match) =>
      unassignedIn(match, this.#assigned),
    )
    this.#forgetAllBut(new Set(fleet.matches.map(({ matchId }) => matchId)), before)
    const backfills = await allOf((at) => store.loadBackfills(at))
    leader.loadBackfills(backfills.filter(({ text }) => this.#unlessBroken(() => readStored(text, 'backfill'))))
    await this.#loadNotes()
    this.#writing = writing
    // A secret that is not configured is committed before any server is created.
    if (matchmaker.serverSecret === undefined && this.#secret === undefined)
      this.#note(SECRET_KEY, (this.#secret = newSecret()))
    const stored = this.#identity
    const hasLost = stored !== undefined && isVoid(stored)
    if (hasLost) this.#fleet = { ...fleet, servers: fleet.servers.map(asIfSent) }
    const named = stored === undefined || hasLost ? newSecret() : stored
    if (named !== stored) this.#note(IDENTITY_KEY, named)
    // The identity is announced once it is written: before that, a check of Redis finds none.
    writing.commits.flushed().then(
      () => identified(named),
      () => {},
    )
    await leader.lead()
    await removeGonePlayers(leader, store, unassigned)
  }

  /** Handles tickets that a follower has cancelled: their matches continue without them, or dissolve. */
  gone(tickets: readonly CancelledTicket[]): void {
    const { leader } = this
    for (const { ticketId: id, by } of tickets) {
      const ticket = leader.getTicket(id)
      if (ticket === undefined || ticket.status === 'CANCELLED') continue
      try {
        if (ticket.status === 'HOST_ASSIGNED') leader.playersLeft(ticket.matchId ?? '', idsOf(ticket))
        else leader.cancelTicket(id, by)
      } catch (error) {
        this.#options.problem(error)
      }
    }
  }

  /**
   * Handles tickets whose headers were not written, because they are not in the state that the leader left. Either a
   * follower has cancelled them, or another process leads.
   */
  async missing(ticketIds: readonly string[]): Promise<void> {
    const stored = await this.#options.store.read(ticketIds)
    const cancelled = ticketIds.filter((_, index) => (stored[index]?.header ?? 'C').startsWith('C'))
    this.gone(cancelled.map((ticketId) => ({ ticketId })))
    if (cancelled.length === ticketIds.length) return
    this.#options.problem(new Error('Stored tickets differ from this leader’s copy. The leader reads them again.'))
    this.#writing?.lease.lose()
  }

  abandon(): void {
    for (const stop of this.#stopListening) stop()
    this.leader.abandon()
  }

  #createLeader(): Leader {
    const { store, matchmaker, sparesUnknownServers } = this.#options
    const isHeld = () => this.#writing?.lease.isHeld() ?? false
    const assertLeading = () => store.fence(this.#writing?.lease.token ?? '')
    return createLeader({
      ...matchmaker,
      resultRecords: {
        stored: () => this.#results,
        put: (key, value) => this.#note(resultKey(key), value),
        remove: (key) => this.#note(resultKey(key), undefined),
        written: () => this.#writing?.commits.flushed(),
      },
      sparesUnknownServers,
      masterSecret: () => {
        if (this.#secret === undefined) throw new Error('This process does not lead the partition.')
        return this.#secret
      },
      deployments: matchmaker.deployments && fencedService(matchmaker.deployments, isHeld, assertLeading),
      sources: mapSources(matchmaker.sources, (source) => fencedAllocator(source, isHeld, assertLeading)),
      serverLog: createPartitionServerLog({
        commits: () => this.#commits(),
        load: async () => {
          const before = this.#fleet ?? (await this.#readFleet())
          this.#fleet = undefined
          return before
        },
        expected: (matchId) => this.leader.expected(matchId),
        assigned: this.#assigned,
        missing: (ticketIds) => this.missing(ticketIds),
      }),
      ledger: {
        changed: (ticket) => {
          const isOver = ticket.status === 'CANCELLED' || ticket.ended !== undefined
          if (ticket.ended === undefined) this.#assigned.put(ticket)
          const frees = isOver ? idsOf(ticket) : undefined
          this.#commits().header({ ticketId: ticket.id, header: encodeHeader(ticket), frees })
        },
        served: () => {},
        cooldownChanged: (playerId, name, state) =>
          this.#note(cooldownKey(name, playerId), state === undefined ? undefined : cooldownText(state)),
        backfillChanged: (backfillId, text) => this.#commits().backfill(backfillId, text),
      },
    })
  }

  #commits(): Commits {
    if (this.#writing === undefined) throw new Error('This process does not lead the partition.')
    return this.#writing.commits
  }

  /** Stores a note for the next leader. Notes of the previous leader are stored already. */
  #note(key: string, text: string | undefined): void {
    this.#writing?.commits.note(key, text)
  }

  #loadTickets(stored: readonly (StoredTicket | undefined)[]): void {
    const taken: LoadedTicket[] = []
    const over: string[] = []
    const takeOne = (ticket: StoredTicket) => {
      const letter = ticket.header?.[0] ?? 'S'
      const view = letter === 'A' ? viewOf(ticket) : undefined
      if (view?.ended !== undefined) return void over.push(ticket.id)
      if (view !== undefined) this.#assigned.put(view)
      // Assigned tickets are loaded too before this process leads: their matches show later whether the players are
      // playing. Once this process leads, it assigns tickets itself.
      if (letter === 'S' || letter === 'M' || (letter === 'A' && this.#writing === undefined))
        taken.push(loadedOf(ticket))
      else over.push(ticket.id)
    }
    for (const ticket of stored) if (ticket !== undefined) this.#unlessBroken(() => takeOne(ticket))
    if (this.#writing === undefined) this.leader.unload(over)
    for (const { error } of this.leader.load(taken)) this.#options.problem(error)
  }

  async #readFleet(): Promise<StoredFleet> {
    const { store } = this.#options
    const open = new Map<string, HostingRecord>()
    await eachOf(
      (at) => store.loadHosting(at),
      ({ key, text }) => open.set(key, readHosting(key, text)),
    )
    return fleetOf([...open.values()].toSorted((one, other) => one.at - other.at))
  }

  /** Takes over the notes of the previous leader. */
  async #loadNotes(): Promise<void> {
    const { store, problem } = this.#options
    const { leader } = this
    const notes = await allOf((at) => store.loadNotes(at))
    this.#results = resultsIn(notes)
    this.#secret = notes.find(({ key }) => key === SECRET_KEY)?.text
    this.#identity = notes.find(({ key }) => key === IDENTITY_KEY)?.text
    const { cooldowns, paused, pausedPools } = readPartitionRecords(notes, problem)
    this.#unlessBroken(() => leader.importCooldowns(cooldowns))
    for (const queue of paused) unlessGone(() => leader.pauseQueue(queue))
    for (const pool of pausedPools) unlessGone(() => leader.pausePool(pool, true))
  }

  /** Removes those of the given matches that do not run any more, and their tickets. */
  #forgetAllBut(running: ReadonlySet<string>, matches: readonly string[]): void {
    for (const matchId of matches) {
      if (running.has(matchId)) continue
      this.leader.unload(this.#assigned.of(matchId).map(({ id }) => id))
      this.#assigned.forget(matchId)
    }
  }

  /** Returns false if another program has damaged the record. The record is reported and skipped. */
  #unlessBroken(read: () => void): boolean {
    try {
      read()
      return true
    } catch (error) {
      this.#options.problem(error)
      return false
    }
  }
}

/**
 * Parses the record of a server or match. Without it, nobody knows whether the server runs, so no process leads.
 * @throws Error that names the record
 */
function readHosting(key: string, text: string): HostingRecord {
  const record = jsonIn(text) as HostingRecord | null | undefined
  if (typeof record === 'object' && record !== null && keyOf(record) === key) return record
  // Another program may have chosen the name.
  const named = /^[sm]:[\w-]{1,64}$/.test(key) ? key : 'with an unknown name'
  throw new Error(
    `the stored record ${named} of a server or match is damaged, so no process can lead. Restore its field in ` +
      'the hash …:h, or remove it with HDEL. Muster then stops its server as an orphan, even with players.',
  )
}

/** Returns the record of a server whose create may have been sent, although Redis has lost that. It is looked for. */
const asIfSent = (record: ServerRecord): ServerRecord => ({ ...record, sentAt: record.sentAt ?? record.at })

/** Runs an action, unless it concerns a queue or pool that the configuration does not have any more. */
function unlessGone(act: () => void): void {
  try {
    act()
  } catch (error) {
    if (!(error instanceof NotFound)) throw error
  }
}

const idsOf = ({ players }: Ticket): readonly string[] => players.map(({ id }) => id)

type Load<T> = (at: string | undefined) => Promise<ScanPage<T>>

/** Visits all pages. The event loop runs in between. */
async function eachPage<T>(load: Load<T>, visit: (items: readonly T[]) => unknown): Promise<void> {
  let at: string | undefined
  do {
    const page = await load(at)
    await visit(page.items)
    at = page.next
  } while (at !== undefined)
}

const eachOf = <T>(load: Load<T>, visit: (item: T) => unknown) =>
  eachPage(load, (items) => {
    for (const item of items) visit(item)
  })

async function allOf<T>(load: Load<T>): Promise<readonly T[]> {
  const items: T[] = []
  await eachOf(load, (item) => items.push(item))
  return items
}
