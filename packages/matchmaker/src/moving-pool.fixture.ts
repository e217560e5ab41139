import type { EnrolmentDefinition, PoolDefinition } from '@muster/hosting'
import { createTestAllocator } from '@muster/hosting/allocator-fixture'
import { EnrolmentBody, RegistrationBody, ReportBody } from '@muster/hosting/internal'
import type { MatchmakerEvents } from './events.js'
import { setUp } from './matchmaker.fixture.js'

const KEY = 'a-key-of-the-arena-for-own-machines'
const own: EnrolmentDefinition = { key: KEY, place: 'Oslo', max: 20, matches: 4, hosts: ['192.0.2.0/24'] }
/** The pool that moves. Its servers come from the deployment service until its definition names another source. */
export const arena = {
  name: 'arena',
  deploy: { application: 'game', version: '1' },
  places: [{ name: 'Oslo', latitude: 59.9, longitude: 10.7 }],
  warm: { maxIdleShare: 1 },
  at: [{ cron: '* * * * *', minutes: 2, min: 16 }],
  reuse: { maxMatches: 12 },
  enrol: [own],
} satisfies PoolDefinition
const queues = [{ name: 'duel', matchSize: 2, pool: 'arena' }]

/** Milliseconds from a create until its server runs; also the duration of a match. */
export const BOOT_MS = 5000
const MATCH_MS = 12_000

/** A game server process of any source. */
interface Process {
  readonly source: string
  readonly instance: string
  readonly token: string
  seq: number
  /** Start time of each match, in milliseconds of the clock. */
  readonly matches: Map<string, number>
  isDraining: boolean
}

interface MovingOptions {
  readonly pool?: PoolDefinition
  /** Faults of the allocator. Default: none. */
  readonly fault?: Parameters<typeof createTestAllocator>[0]['fault']
}

type Moving = ReturnType<typeof openMoving>

/** Creates a matchmaker whose pool may move between the deployment service, an allocator and enrolled servers. */
export function openMoving({ pool = arena, fault }: MovingOptions = {}) {
  let allocation: ReturnType<typeof createTestAllocator> | undefined
  const metal = () => (allocation ??= createTestAllocator({ clock: world.clock, readyMs: BOOT_MS, fault }))
  const world = setUp({
    queues,
    pools: [pool],
    sources: {
      metal: {
        allocate: (wanted, options) => metal().allocator.allocate(wanted, options),
        poll: (ids, options) => metal().allocator.poll(ids, options),
        stop: (id, options) => metal().allocator.stop(id, options),
      },
    },
    serverSecret: 'master-secret-of-32-characters-and-more',
  })
  const { clock, matchmaker, service } = world
  /** The processes by their address for players: host and port. */
  const processes = new Map<string, Process>()
  /** Addresses of processes that ended during a match. */
  const interrupted: string[] = []
  const begin = (where: string, source: string, token: string, instance = where) => {
    const process: Process = { source, instance, token, seq: 0, matches: new Map(), isDraining: false }
    processes.set(where, process)
    return process
  }
  const end = (where: string) => {
    const process = processes.get(where)
    if (process === undefined) return
    processes.delete(where)
    const isPlayed = [...process.matches.values()].some((since) => clock.now() - since < MATCH_MS)
    if (isPlayed) interrupted.push(where)
  }

  /** Turns creates into processes that register, and ends the processes of stopped servers. */
  const runCreated = () => {
    const running = new Set(metal().running())
    const created = [
      ...service.records.map(({ requestId, createdAt, stopAskedAt }, nth) => ({
        where: `${requestId}.example.com:30000`,
        source: 'service',
        at: createdAt,
        isStopped: stopAskedAt !== undefined,
        token: service.calls.create[nth]?.environment_variables?.find(({ key }) => key === 'MUSTER_SERVER_TOKEN')
          ?.value,
      })),
      ...Array.from(metal().servers, ([id, { at, wanted }]) => ({
        where: `${id}.example.com:7777`,
        source: 'metal',
        at,
        isStopped: !running.has(id),
        token: wanted.environment['MUSTER_SERVER_TOKEN'],
      })),
    ]
    for (const { where, source, at, isStopped, token = '' } of created) {
      if (isStopped) end(where)
      else if (!processes.has(where) && clock.now() >= at + BOOT_MS) {
        const { instance } = begin(where, source, token)
        matchmaker.registerServer(token, RegistrationBody.parse({ instance }))
      }
    }
  }

  const report = async (where: string, process: Process) => {
    const { instance, token, matches, isDraining } = process
    process.seq += 1
    const playing = Array.from(matches, ([id, since]) => ({
      id,
      status: clock.now() - since >= MATCH_MS ? 'over' : 'open',
    }))
    const said = ReportBody.parse({ instance, seq: process.seq, matches: playing, draining: isDraining })
    const orders = await matchmaker.reportServer(token, said).catch(() => undefined)
    // A server with the order `stop` ends itself, as the game server library does.
    if (orders === undefined || orders.want === 'stop') return end(where)
    const wanted = new Set(orders.matches.map(({ id }) => id))
    for (const id of matches.keys()) if (!wanted.has(id)) matches.delete(id)
    for (const id of wanted) if (!matches.has(id)) matches.set(id, clock.now())
  }

  const run = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 500) {
      await world.run(500)
      runCreated()
      for (const [where, process] of processes) await report(where, process)
      await supervise()
    }
  }

  /** Number of processes that the supervisors of enrolled machines keep running. */
  let slots = 0
  let started = 0
  const startOwn = async (slot: number) => {
    const port = 7777 + slot
    const where = `192.0.2.1:${port}`
    const instance = `process ${(started += 1)}`
    const body = EnrolmentBody.parse({
      instance,
      name: `slot-${slot}`,
      build: '1',
      matches: 4,
      address: { host: '192.0.2.1', ports: { game: { port, protocol: 'UDP' } } },
    })
    const { token } = await matchmaker.enrolServer(KEY, body, '192.0.2.1')
    begin(where, 'enrolled', token, instance)
  }
  const supervise = async () => {
    for (let slot = 0; slot < slots; slot += 1) if (!processes.has(`192.0.2.1:${7777 + slot}`)) await startOwn(slot)
  }

  return {
    ...world,
    processes,
    interrupted,
    run,
    /** Changes the definition of the pool, as by a reload. */
    moveTo: (definition: PoolDefinition) => matchmaker.reconfigure(queues, { pools: [definition] }),
    /** Sets the number of enrolled processes. Surplus ones end once their matches have. */
    keepOwn: (many: number) => {
      slots = many
      for (const [where, process] of processes)
        if (process.source === 'enrolled') process.isDraining = Number(where.split(':')[1]) >= 7777 + many
    },
    /** The sources of all servers that exist or may exist, without duplicates. */
    sourcesThere: () => [...new Set(matchmaker.inspect().servers.map(({ source = 'service' }) => source))].toSorted(),
    metal,
  }
}

/** Returns the address for players in an assignment. */
const whereOf = ({ fqdn, ports }: MatchmakerEvents['serverAssigned']['assignment']) =>
  `${fqdn}:${ports['game']?.external}`

/** Records everything by which a player could notice the move. */
export function watchPlayers({ matchmaker, processes, clock }: Pick<Moving, 'matchmaker' | 'processes' | 'clock'>) {
  const faults: string[] = []
  /** For each ticket: milliseconds until its players got a server, and the source of that server. */
  const told = new Map<string, { readonly ms: number; readonly source: string }>()
  const createdAt = new Map<string, number>()
  const draining = new Set<string>()
  matchmaker.on('ticketCreated', ({ ticket }) => createdAt.set(ticket.id, clock.now()))
  matchmaker.on('serverDraining', ({ serverId }) => draining.add(serverId))
  matchmaker.on('serverTaken', ({ matchId, serverId }) => {
    if (draining.has(serverId)) faults.push(`match ${matchId} took server ${serverId}, which is drained`)
  })
  matchmaker.on('serverAssigned', ({ assignment, tickets }) => {
    const where = whereOf(assignment)
    const source = processes.get(where)?.source
    for (const { id } of tickets) {
      if (source === undefined) faults.push(`ticket ${id} was sent to ${where}, where nothing runs`)
      if (told.has(id)) faults.push(`ticket ${id} was sent to a server twice`)
      told.set(id, { ms: clock.now() - (createdAt.get(id) ?? 0), source: source ?? 'none' })
    }
  })
  return { faults, told }
}
