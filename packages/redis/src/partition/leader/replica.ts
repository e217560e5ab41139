import { NotFound } from '@muster/core'
import type { DeploymentService, MatchmakerOptions, Ticket } from '@muster/matchmaker'
import {
  createLeader,
  type Leader,
  mapSources,
  type ServerAllocator,
  fleetOf,
  type HostingRecord,
  type StoredFleet,
  type StoredTicket as LoadedTicket,
} from '@muster/matchmaker/internal'
import type { Lease } from '../election.js'
import {
  cooldownKey,
  cooldownText,
  IDENTITY_KEY,
  loadedOf,
  pauseKey,
  poolPauseKey,
  readNotes,
  resultKey,
  resultsIn,
  SECRET_KEY,
  viewOf,
} from '../notes.js'
import {
  encodeHeader,
  readStored,
  type Batch,
  type InboxEntry,
  type PartitionStore,
  type StoredTicket,
  type TicketChange,
} from '../store/index.js'
import {
  type AssignedTickets,
  createAssignedTickets,
  createPartitionServerLog,
  type Joining,
  joiningIn,
  removeGonePlayers,
} from './partition-server-log.js'
import type { Commits } from './commits.js'

/** What a lease epoch adds to a replica: the lease, and the way to write. */
export interface Writing {
  readonly lease: Lease
  readonly commits: Commits
}

/**
 * This process's copy of a partition's tickets, in a matchmaker that matches nobody until its process leads. The caller
 * runs its methods one at a time.
 */
export interface Replica {
  readonly leader: Leader
  readonly assigned: AssignedTickets
  /** Reads everything stored; later changes arrive by `changed` and `happened`. */
  load(): Promise<void>
  /** Tickets have changed, by the decision of another leader or of a follower. */
  changed(tickets: readonly TicketChange[]): Promise<void>
  /** Applies what followers did, except for RPC requests. Returns tickets that were cancelled. */
  happened(entries: readonly InboxEntry[]): Promise<readonly CancelledTicket[]>
  /** Forgets running matches that are over; for a process that does not lead. */
  prune(): Promise<void>
  /** From now on this process leads. Resolves when it has taken over the matches of the previous leader. */
  lead(writing: Writing): Promise<void>
  /** Tickets that a follower has cancelled: their matches continue without them, or dissolve. */
  gone(tickets: readonly CancelledTicket[]): void
  /** Tickets whose headers were not taken. */
  missing(ticketIds: readonly string[]): Promise<void>
  abandon(): void
}

/** A ticket that a follower has cancelled, and the player who did it if its match was found. */
export interface CancelledTicket {
  readonly ticketId: string
  readonly by?: string | undefined
}

export interface ReplicaOptions {
  /** Makes a master secret. */
  readonly newSecret: () => string
  /** See `LeaderOptions.sparesUnknownServers`. */
  readonly sparesUnknownServers?: (() => boolean) | undefined
  /** Called with the name of the partition as this process comes to lead; see `IDENTITY_KEY`. */
  readonly identified: (identity: string) => void
  readonly store: PartitionStore
  readonly matchmaker: MatchmakerOptions
  readonly problem: (error: unknown) => void
}

/**
 * The service as a leader may use it: a leader that has lost its lease, e.g. after a pause, must not create or stop a
 * server. The service does not know fencing tokens, so the lease is checked as late as possible. A create follows its
 * log entry, which a deposed leader cannot write. A stop checks the lease first. Both check the clock at the last
 * moment before the request is written.
 * @param isHeld whether the lease is certainly held.
 * @param assertLeading throws `LeaseLost` if another process leads.
 */
export function fencedService(
  service: DeploymentService,
  isHeld: () => boolean,
  assertLeading: () => Promise<void>,
): DeploymentService {
  return {
    get: (input, options) => service.get(input, options),
    list: (input, options) => service.list(input, options),
    ...(service.logs && { logs: service.logs.bind(service) }),
    create: (input, options) =>
      service.create(input, { ...options, mayWrite: () => isHeld() && options?.mayWrite?.() !== false }),
    stop: async (input, options) => {
      await assertLeading()
      return service.stop(input, { ...options, mayWrite: isHeld })
    },
  }
}

/** Another source as a leader may use it: see `fencedService`. */
export function fencedAllocator(
  allocator: ServerAllocator,
  isHeld: () => boolean,
  assertLeading: () => Promise<void>,
): ServerAllocator {
  return {
    lagMs: allocator.lagMs,
    poll: (ids, options) => allocator.poll(ids, options),
    ...(allocator.logs && { logs: allocator.logs.bind(allocator) }),
    allocate: (wanted, options) =>
      allocator.allocate(wanted, { ...options, mayWrite: () => isHeld() && options.mayWrite?.() !== false }),
    stop: async (id, options) => {
      await assertLeading()
      return allocator.stop(id, { ...options, mayWrite: isHeld })
    },
  }
}

/** Tickets taken over at a time: some milliseconds of work. */
const LOADED_AT_ONCE = 500

export function createReplica(options: ReplicaOptions): Replica {
  const { store, matchmaker, sparesUnknownServers, newSecret, identified, problem } = options
  const assigned = createAssignedTickets()
  let writing: Writing | undefined

  const commits = (): Commits => {
    if (writing === undefined) throw new Error('This process does not lead.')
    return writing.commits
  }

  /** Remembers something for the next leader. What is taken over from the one before is there already. */
  const note = (key: string, text: string | undefined) => writing?.commits.note(key, text)

  const gone = (those: readonly CancelledTicket[]) => {
    for (const { ticketId: id, by } of those) {
      const ticket = leader.getTicket(id)
      if (ticket === undefined || ticket.status === 'CANCELLED') continue
      try {
        if (ticket.status === 'HOST_ASSIGNED') leader.playersLeft(ticket.matchId ?? '', idsOf(ticket))
        else leader.cancelTicket(id, by)
      } catch (error) {
        problem(error)
      }
    }
  }

  /** These tickets are not as the leader left them: either a follower has cancelled them, or another process leads. */
  const missing = async (ticketIds: readonly string[]): Promise<void> => {
    const stored = await store.read(ticketIds)
    const cancelled = ticketIds.filter((_, index) => (stored[index]?.header ?? 'C').startsWith('C'))
    gone(cancelled.map((ticketId) => ({ ticketId })))
    if (cancelled.length === ticketIds.length) return
    problem(new Error('Stored tickets differ from this leader’s copy. It reads them again.'))
    writing?.lease.lose()
  }

  /** What was read as this process came to lead, until the store takes it. */
  let fleet: StoredFleet | undefined
  const readFleet = async (): Promise<StoredFleet> => {
    const open = new Map<string, HostingRecord>()
    await eachOf(store.loadHosting, ({ key, text }) => open.set(key, readStored<HostingRecord>(text, 'record')))
    return fleetOf([...open.values()].toSorted((one, other) => one.at - other.at))
  }
  const loadFleet = async (): Promise<StoredFleet> => {
    const before = fleet ?? (await readFleet())
    fleet = undefined
    return before
  }

  let secret: string | undefined
  let identity: string | undefined
  /** Results of matches that the previous leader has left. */
  let results: ReturnType<typeof resultsIn> = []

  const isHeld = () => writing?.lease.isHeld() ?? false
  const assertLeading = () => store.fence(writing?.lease.token ?? '')

  const leader = createLeader({
    ...matchmaker,
    resultRecords: {
      stored: () => results,
      put: (key, value) => note(resultKey(key), value),
      remove: (key) => note(resultKey(key), undefined),
      written: () => writing?.commits.flushed(),
    },
    sparesUnknownServers,
    masterSecret: () => {
      if (secret === undefined) throw new Error('This process does not lead.')
      return secret
    },
    deployments: matchmaker.deployments && fencedService(matchmaker.deployments, isHeld, assertLeading),
    sources: mapSources(matchmaker.sources, (source) => fencedAllocator(source, isHeld, assertLeading)),
    serverLog: createPartitionServerLog({
      commits,
      load: loadFleet,
      expected: (matchId) => leader.expected(matchId),
      assigned,
      missing,
    }),
    ledger: {
      changed: (ticket) => {
        const isOver = ticket.status === 'CANCELLED' || ticket.ended !== undefined
        if (ticket.ended === undefined) assigned.put(ticket)
        const frees = isOver ? idsOf(ticket) : undefined
        commits().header({ ticketId: ticket.id, header: encodeHeader(ticket), frees })
      },
      served: () => {},
      cooldownChanged: (playerId, name, state) =>
        note(cooldownKey(name, playerId), state === undefined ? undefined : cooldownText(state)),
      backfillChanged: (backfillId, text) => commits().backfill(backfillId, text),
    },
  })
  const stopListening = [
    leader.on('queuePaused', ({ queue }) => note(pauseKey(queue), '')),
    leader.on('queueResumed', ({ queue }) => note(pauseKey(queue), undefined)),
    leader.on('poolPaused', ({ pool, paused }) => note(poolPauseKey(pool), paused ? '' : undefined)),
    leader.on('playersLeft', ({ matchId, playerIds }) => {
      for (const ticket of assigned.of(matchId)) {
        const those = idsOf(ticket).filter((id) => playerIds.includes(id))
        if (those.length > 0) commits().left(ticket.id, those)
      }
    }),
  ]

  /** What another program has broken is reported and left out, so that all else continues. */
  const unlessBroken = (read: () => void): boolean => {
    try {
      read()
      return true
    } catch (error) {
      problem(error)
      return false
    }
  }

  /** Whatever is gone from the configuration is left out. */
  const unlessGone = (act: () => void) => {
    try {
      act()
    } catch (error) {
      if (!(error instanceof NotFound)) throw error
    }
  }

  const take = (stored: readonly (StoredTicket | undefined)[]) => {
    const taken: LoadedTicket[] = []
    const over: string[] = []
    const takeOne = (ticket: StoredTicket) => {
      const letter = ticket.header?.[0] ?? 'S'
      const view = letter === 'A' ? viewOf(ticket) : undefined
      if (view?.ended !== undefined) return void over.push(ticket.id)
      if (view !== undefined) assigned.put(view)
      // The match of a ticket shows whether its players play, once this process leads; later it assigns them itself.
      if (letter === 'S' || letter === 'M' || (letter === 'A' && writing === undefined)) taken.push(loadedOf(ticket))
      else over.push(ticket.id)
    }
    for (const ticket of stored) if (ticket !== undefined) unlessBroken(() => takeOne(ticket))
    if (writing === undefined) leader.unload(over)
    for (const { error } of leader.load(taken)) problem(error)
  }

  /** Takes over the notes of the previous leader. */
  const loadNotes = async () => {
    const notes = await allOf(store.loadNotes)
    results = resultsIn(notes)
    secret = notes.find(({ key }) => key === SECRET_KEY)?.text
    identity = notes.find(({ key }) => key === IDENTITY_KEY)?.text
    const { cooldowns, paused, pausedPools } = readNotes(notes, problem)
    unlessBroken(() => leader.importCooldowns(cooldowns))
    for (const queue of paused) unlessGone(() => leader.pauseQueue(queue))
    for (const pool of pausedPools) unlessGone(() => leader.pausePool(pool, true))
  }

  /** Forgets those of the matches that are over. */
  const prune = (matches: readonly string[], running: { readonly has: (matchId: string) => boolean }) => {
    for (const matchId of matches) {
      if (running.has(matchId)) continue
      leader.unload(assigned.of(matchId).map(({ id }) => id))
      assigned.forget(matchId)
    }
  }

  return {
    leader,
    assigned,
    gone,
    missing,
    load: () =>
      eachBatch(store.loadTickets, async (items) => {
        for (let from = 0; from < items.length; from += LOADED_AT_ONCE) {
          take(items.slice(from, from + LOADED_AT_ONCE))
          // A lease has to be renewed meanwhile.
          await new Promise((resolve) => setImmediate(resolve))
        }
      }),
    changed: async (tickets) => {
      const letters = new Map(tickets.map(({ ticketId, letter }) => [ticketId, letter]))
      const cancelled = [...letters].flatMap(([id, letter]) => (letter === 'C' ? id : []))
      leader.unload(cancelled)
      for (const id of cancelled) assigned.remove(id)
      take(await store.read([...letters.keys()].filter((id) => letters.get(id) !== 'C')))
    },
    happened: async (entries) => {
      const created = entries.flatMap((entry) => (entry.kind === 'created' ? entry.ticketIds : []))
      const unknown = created.filter((id) => leader.getTicket(id) === undefined)
      if (unknown.length > 0) take(await store.read(unknown))
      return entries.filter((entry) => entry.kind === 'cancelled')
    },
    prune: async () => {
      const before = [...assigned.matches()]
      const running = new Set<string>()
      await eachOf(store.loadHosting, ({ key }) => {
        if (key.startsWith('m:')) running.add(key.slice(2))
      })
      prune(before, running)
    },
    lead: async (ours) => {
      const before = [...assigned.matches()]
      await store.convert(ours.lease.token)
      fleet = await readFleet()
      const joining: readonly Joining[] = fleet.matches.flatMap((match) => joiningIn(match, assigned))
      prune(before, new Set(fleet.matches.map(({ matchId }) => matchId)))
      const backfills = await allOf(store.loadBackfills)
      leader.loadBackfills(backfills.filter(({ text }) => unlessBroken(() => readStored(text, 'backfill'))))
      await loadNotes()
      writing = ours
      // A secret that is not configured is committed before any server is created.
      if (matchmaker.serverSecret === undefined && secret === undefined) note(SECRET_KEY, (secret = newSecret()))
      const named = identity ?? newSecret()
      if (identity === undefined) note(IDENTITY_KEY, named)
      // Only once it is written: until then a look at Redis finds none.
      ours.commits.flushed().then(
        () => identified(named),
        () => {},
      )
      await leader.lead()
      await removeGonePlayers(leader, store, joining)
    },
    abandon: () => {
      for (const stop of stopListening) stop()
      leader.abandon()
    },
  }
}

const idsOf = ({ players }: Ticket): readonly string[] => players.map(({ id }) => id)

type Load<T> = (at: string | undefined) => Promise<Batch<T>>

/** Goes through all there is: the event loop runs in between. */
async function eachBatch<T>(load: Load<T>, visit: (items: readonly T[]) => unknown): Promise<void> {
  let at: string | undefined
  do {
    const batch = await load(at)
    await visit(batch.items)
    at = batch.next
  } while (at !== undefined)
}

const eachOf = <T>(load: Load<T>, visit: (item: T) => unknown) =>
  eachBatch(load, (items) => {
    for (const item of items) visit(item)
  })

async function allOf<T>(load: Load<T>): Promise<readonly T[]> {
  const items: T[] = []
  await eachOf(load, (item) => items.push(item))
  return items
}
