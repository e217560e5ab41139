import { createManualClock, seededRandom, type ManualClock } from '@muster/core/clock'
import { deploy, duel } from '../matchmaker.fixture.js'
import type { EventName, MatchmakerEvents } from '../events.js'
import { createMemoryServerLog, type ServerLog, type HostingEntry } from '@muster/hosting/internal'
import { createTestService, type ServiceOptions } from '@muster/hosting/service-fixture'
import type { Ledger } from '../tickets/ticket-ledger.js'
import type { StoredTicket, TicketState } from '../tickets/checked-ticket.js'
import { createTicketChecker } from '../tickets/ticket-checker.js'
import type { Ticket, TicketInput } from '../tickets/ticket.js'
import { createLeader, type LeaderOptions } from './leader.js'

export { deploy, duel }

const eventNames = [
  'ticketRequeued',
  'cancelled',
  'expired',
  'serverAssigned',
  'matchFound',
  'deploymentStopped',
  'problem',
] as const

/** Creates a world that outlives its leaders: a clock, a service, a store, and the entries of the ledgers. */
export function createWorld({
  service: serviceOptions,
  ...given
}: Partial<LeaderOptions> & { readonly service?: Partial<ServiceOptions> } = {}) {
  const clock: ManualClock = createManualClock()
  const service = createTestService({ clock, ...serviceOptions })
  /** One random source for all processes, so that no two make the same id. */
  const random = seededRandom(1)
  const memory = createMemoryServerLog()
  const entries: HostingEntry[] = []
  const serverLog: ServerLog = {
    resumes: true,
    open: () => memory.open(),
    append: (appended) => {
      entries.push(...appended)
      return memory.append(appended)
    },
  }
  const queues = given.queues ?? [duel]
  const { pools } = given
  const checker = createTicketChecker({ queues, pools, maxMatchesPerPlayer: 4, clock, random: seededRandom(2) })
  /** The tickets in the store, by id. */
  const stored = new Map<string, StoredTicket>()

  /** Creates a ticket like a follower does. */
  const create = (input: TicketInput): StoredTicket => {
    const { id, body } = checker.check(input)
    const ticket = { id, body, createdAt: clock.now() }
    stored.set(id, ticket)
    return ticket
  }
  const join = (...players: string[]) =>
    create({ id: players.join('-'), queue: 'duel', players: players.map((id) => ({ id, ip: '198.51.100.7' })) })

  const write = (ticket: Ticket) => {
    const { id, queues: _, players: __, priority: ___, createdAt: ____, ...state } = ticket
    const before = stored.get(id)
    if (before !== undefined) stored.set(id, { ...before, state })
  }

  const backfills = new Map<string, string>()
  const backfillChanged = (id: string, text: string | undefined) => {
    if (text === undefined) backfills.delete(id)
    else backfills.set(id, text)
  }

  /** A ledger that passes only found matches to the store and nothing after them. */
  const hearsOnlyMatches: Ledger = {
    changed: (ticket) => ticket.status === 'MATCH_FOUND' && write(ticket),
    served: () => {},
    cooldownChanged: () => {},
    backfillChanged: () => {},
  }

  /** Creates a process that can lead. */
  const process = (options: Partial<LeaderOptions> = {}) => {
    const changes: Ticket[] = []
    const served: string[] = []
    const seen: { [Name in EventName]?: MatchmakerEvents[Name][] } = {}
    const leader = createLeader({
      deployments: service.deployments,
      queues,
      clock,
      random,
      listLagMs: 4000,
      serverLog,
      masterSecret: () => 'the master secret of this world',
      ...given,
      ledger: {
        changed: (ticket) => {
          changes.push(ticket)
          write(ticket)
        },
        served: (playerIds) => void served.push(...playerIds),
        cooldownChanged: () => {},
        backfillChanged,
      },
      ...options,
    })
    const watch = <Name extends EventName>(name: Name) =>
      leader.on(name, (event) => {
        const events: MatchmakerEvents[Name][] = (seen[name] ??= [])
        events.push(event)
      })
    for (const name of eventNames) watch(name)
    const run = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 250) {
        const ticked = leader.tick()
        await clock.advance(250)
        await clock.until(ticked)
      }
    }
    return { leader, changes, served, seen, run }
  }

  /** Creates a leading process that has loaded the whole store. */
  const lead = async (options: Partial<LeaderOptions> = {}) => {
    const one = process(options)
    const failed = one.leader.load([...stored.values()].filter((ticket) => ticket.state?.status !== 'CANCELLED'))
    if (failed.length > 0) throw new Error('some tickets could not be loaded', { cause: failed })
    one.leader.loadBackfills(Array.from(backfills, ([backfillId, text]) => ({ backfillId, text })))
    await one.leader.lead()
    return one
  }

  const state = (id: string): TicketState | undefined => stored.get(id)?.state
  return {
    clock,
    service,
    serverLog,
    entries,
    checker,
    stored,
    backfills,
    backfillChanged,
    create,
    join,
    write,
    hearsOnlyMatches,
    process,
    lead,
    state,
  }
}

type World = ReturnType<typeof createWorld>

/** Lets a first leader find a match of two players, run for the given time and end. Then another leader takes over. */
export async function takenOverAfter(
  ms: number,
  world: World = createWorld(),
  options: Parameters<World['process']>[0] = {},
) {
  const first = await world.lead(options)
  first.leader.load([world.join('ann'), world.join('ben')])
  await first.run(ms)
  const { matchId = '' } = first.leader.getTicket('ann') ?? {}
  first.leader.abandon()
  const next = await world.lead()
  return { ...world, ...next, first, matchId }
}
