import { type Clock, createManualClock, seededRandom } from '@muster/core/clock'
import type { PoolDefinition, StoreMemory } from '@muster/hosting'
import type { DeploymentService, MatchRecord, ServerRecord } from '@muster/hosting/internal'
import { createTestService } from '@muster/hosting/service-fixture'
import { createMatchmakerOver } from '../create-matchmaker.js'
import type { Matchmaker } from '../matches/matchmaker.js'
import {
  anyFault,
  chance,
  createFault,
  createGameProcess,
  type GameProcess,
  oneOf,
} from '@muster/hosting/schedules-fixture'
import { changedDefinitions, definitionsWith, EXPIRE_MS } from './changed-definitions.fixture.js'
import { createMortalStore } from './mortal-store.fixture.js'

/** Result of a schedule: the broken invariants, and counts that show that enough happened. */
export interface Outcome {
  readonly broken: readonly string[]
  readonly assigned: number
  readonly deaths: number
  readonly deployments: number
  /** Number of matches that servers got. */
  readonly served: number
}

/** One process of the matchmaker. */
interface Life {
  readonly matchmaker: Matchmaker
  readonly kill: () => void
  readonly isDead: () => boolean
  readonly spare: () => void
}

const STEP_MS = 500
const BAD_MS = 75_000
/**
 * Milliseconds in which everything ends by itself. A silent server is lost after 25 s and stopped 60 s later, matches
 * end, tickets expire, and orphans are stopped.
 */
const CALM_MS = 220_000
const MOST_SERVERS = 6
const WARM = 2
const PLAYERS = ['p1', 'p2', 'p3', 'p4', 'p5', 'p6', 'p7', 'p8']

const never = <T>() => new Promise<T>(() => {})

/**
 * Returns the answer if it arrives before the manual clock advances; undefined if the call is refused or still waits
 * then. To await a slow store or a killed process would never end.
 */
const unlessWaiting = <T>(answer: Promise<T>): Promise<T | undefined> =>
  Promise.race([answer.catch(() => undefined), new Promise<undefined>((resolve) => setImmediate(resolve, undefined))])

const recordsOf = <T>(memory: StoreMemory, kind: 'match' | 'server'): readonly T[] =>
  Array.from(memory.get(kind)?.values() ?? [], ({ value, change = '{}' }) => ({
    ...(JSON.parse(value) as T),
    ...(JSON.parse(change) as Partial<T>),
  }))

/**
 * Runs one matchmaker process after another over one store, with random servers and players that follow from the seed.
 */
export async function runServerSchedule(seed: number): Promise<Outcome> {
  const random = seededRandom(seed * 7919 + 3)
  const clock = createManualClock()
  const broken = new Set<string>()
  let calm = false
  let deaths = 0
  let assigned = 0
  /**
   * Milliseconds by which the matchmaker's wall clock is wrong. It is never set back while a matchmaker process runs.
   */
  let offMs = 0
  const between = (from: number, to: number) => from + random() * (to - from)
  const span = (share: number, most: number): readonly [number, number] => {
    const from = between(0, BAD_MS)
    return chance(random, share) ? [from, from + between(0, most)] : [0, 0]
  }
  const isWithin = ([from, to]: readonly [number, number]) =>
    clock.now() - startedAt >= from && clock.now() - startedAt < to
  const startedAt = clock.now()
  const storm = span(0.4, 20_000)
  const diskFull = span(0.4, 20_000)
  const badness = { create: oneOf(random, 0, 0, 0.2, 0.5), others: oneOf(random, 0, 0.05, 0.2) }
  const isSlow = chance(random, 0.3)
  // A random source of its own, so that changed configurations do not change the other faults of a seed.
  const changing = seededRandom(seed)
  /** True if each process has another configuration. The last one has all queues and pools again. */
  const changes = chance(changing, 0.4)
  const deathShare = oneOf(random, 0, 0.01, 0.03)
  const boots = oneOf(random, 'steady', 'spread', 'heavy')
  const capacity = oneOf(random, 1, 1, 2)
  const boot = () => {
    if (boots === 'steady') return 5000
    return boots === 'spread' ? between(1000, 12_000) : Math.min(40_000, 1500 / (random() + 0.02))
  }

  const service = createTestService({
    clock,
    listLagMs: oneOf(random, 0, 1000, 2500),
    fault: (method) => {
      if (calm) return undefined
      if (isWithin(storm)) return chance(random, 0.6) ? anyFault(random) : undefined
      if (method !== 'create') return chance(random, badness.others) ? anyFault(random) : undefined
      return chance(random, badness.create) ? createFault(random, `r${service.records.length + 1}`) : undefined
    },
    fate: () => {
      const readyMs = boot()
      if (calm || chance(random, 0.85)) return { readyMs }
      return oneOf(
        random,
        { errorMs: readyMs },
        { readyMs, endMs: readyMs + between(0, 40_000) },
        { readyMs, errorMs: readyMs + between(0, 40_000) },
        { readyMs: 60_000 },
      )
    },
  })

  const pool: PoolDefinition = {
    name: 'arena',
    deploy: { application: 'game', version: '1', readyTimeoutMs: 30_000 },
    places: [
      { name: 'Oslo', latitude: 59.9, longitude: 10.7 },
      ...(chance(random, 0.5) ? [{ name: 'Bergen', latitude: 60.4, longitude: 5.3 }] : []),
    ],
    reuse: { maxMatches: oneOf(random, 1, 3, 20) },
    at: [{ cron: '* * * * *', minutes: 2, min: 1 }],
    warm: { hit: 0, max: WARM },
    keepIdleSeconds: 10,
  }

  /** The server to which the players of each match were sent. */
  const sentTo = new Map<string, string>()
  const excused = new Set<string>()
  const doubled = new Set<string>()
  const left = new Set<string>()
  const lateActs: { readonly atMs: number; readonly act: () => void }[] = []
  const processes: GameProcess[] = []
  const disk: { memory: StoreMemory } = { memory: new Map() }

  const begin = (): Life => {
    let dead = false
    let spared = false
    let writes = 0
    const deathAt = chance(random, deathShare * 20) ? 1 + Math.floor(random() * 60) : undefined
    const diesBefore = chance(random, 0.5)
    const kill = () => {
      if (dead || spared) return
      dead = true
      deaths += 1
    }
    const alive = async <T>(promise: Promise<T>): Promise<T> => {
      try {
        const value = await promise
        return dead ? await never<T>() : value
      } catch (error) {
        return dead ? never<T>() : Promise.reject(error as Error)
      }
    }
    const ownClock: Clock = {
      now: () => clock.now() + offMs,
      sleep: (ms, signal) => alive(clock.sleep(ms, signal)),
    }
    const { get, stop, list } = service.deployments
    /** Sometimes the service makes two deployments for one create, and answers with the first. */
    const create: DeploymentService['create'] = async (input, options) => {
      const made = await service.deployments.create(input, options)
      if (!calm && chance(random, 0.05)) await service.add(input.tags ?? []).catch(() => {})
      return made
    }
    const gated =
      <Input, Options, Output>(call: (input: Input, options?: Options) => Promise<Output>) =>
      (input: Input, options?: Options): Promise<Output> =>
        dead ? never() : alive(call(input, options))
    const deployments: DeploymentService = {
      create: gated(create),
      get: gated(get),
      stop: gated(stop),
      list: gated(list),
    }
    const matchmaker = createMatchmakerOver(
      {
        deployments,
        ...(calm || !changes ? definitionsWith(pool) : changedDefinitions(pool, changing)),
        clock: ownClock,
        random,
        tickMs: STEP_MS,
        listLagMs: 3000,
        orphanGraceMs: 15_000,
        maxServers: MOST_SERVERS,
        store: createMortalStore({
          disk: disk.memory,
          isFull: () => !calm && (isWithin(diskFull) || chance(random, badness.others / 20)),
          isDead: () => dead,
          writing: (isDone) => {
            if (!isDone) writes += 1
            if (writes === deathAt && isDone !== diesBefore) kill()
          },
        }),
      },
      // Delays writes like a log over a network.
      (serverLog) => ({
        ...serverLog,
        append: (entries) => {
          const written = serverLog.append(entries)
          return isSlow ? alive(Promise.resolve(written).then(() => ownClock.sleep(between(0, 1200)))) : written
        },
      }),
    )
    matchmaker.on('serverAssigned', ({ matchId, requestId, tickets }) => {
      if (dead) return
      assigned += tickets.length
      const before = sentTo.get(matchId)
      if (before !== undefined && before !== requestId)
        broken.add(`players of match ${matchId} were sent to ${before}, then to ${requestId}`)
      sentTo.set(matchId, requestId)
    })
    const ends = new Map<string, string>()
    const ended = (id: string, how: string) => {
      if (dead) return
      const before = ends.get(id)
      if (before !== undefined) broken.add(`ticket ${id} ended twice: ${before}, ${how}`)
      ends.set(id, how)
    }
    matchmaker.on('cancelled', ({ ticket }) => ended(ticket.id, 'cancelled'))
    matchmaker.on('expired', ({ ticket }) => ended(ticket.id, 'expired'))
    matchmaker.start()
    return {
      matchmaker,
      kill,
      isDead: () => dead,
      spare: () => {
        spared = true
      },
    }
  }

  let life: Life | undefined = begin()

  const world = {
    random,
    now: () => clock.now(),
    servers: () => (life === undefined || life.isDead() ? undefined : life.matchmaker),
    isCalm: () => calm,
    sentTo: (matchId: string) => sentTo.get(matchId),
    excuse: (matchId: string) => void excused.add(matchId),
    isDoubled: (requestId: string) => doubled.has(requestId),
    isExcused: (matchId: string) => excused.has(matchId),
    left,
    broken: (fault: string) => void broken.add(fault),
    later: (atMs: number, act: () => void) => void lateActs.push({ atMs, act }),
  }

  const begun = new Map<string, number>()
  /** When each deployment gets a process, which may be before or after it is READY. */
  const bootsAt = new Map<string, number>()
  const isRunning = ({ requestId, createdAt, fate, stopAskedAt }: (typeof service.records)[number]) =>
    stopAskedAt === undefined &&
    clock.now() < createdAt + Math.min(fate.endMs ?? Infinity, fate.errorMs ?? Infinity) &&
    clock.now() >= (bootsAt.get(requestId) ?? Infinity)

  const tokenOf = (tags: readonly string[]) =>
    service.calls.create
      .find((input) => input.tags?.every((tag) => tags.includes(tag)))
      ?.environment_variables?.find(({ key }) => key === 'MUSTER_SERVER_TOKEN')?.value

  const startProcess = (requestId: string, token: string) => {
    const nth = (begun.get(requestId) ?? 0) + 1
    begun.set(requestId, nth)
    const behaviour = { isLiar: !calm && chance(random, 0.1), refuses: chance(random, 0.1) }
    processes.push(createGameProcess({ requestId, token, capacity, nth, ...behaviour }, world))
  }

  const runServers = () => {
    for (const record of service.records) {
      if (!bootsAt.has(record.requestId))
        bootsAt.set(
          record.requestId,
          record.createdAt + Math.max(500, (record.fate.readyMs ?? 5000) + between(-500, 2000)),
        )
      const own = processes.filter(({ requestId, hasEnded }) => requestId === record.requestId && !hasEnded())
      if (!isRunning(record)) {
        for (const one of own) one.end()
        continue
      }
      const token = tokenOf(record.tags)
      if (token === undefined) continue
      // A process that has crashed is sometimes restarted in its container.
      const isNew = !begun.has(record.requestId)
      if (isNew && !(chance(random, 0.02) && !calm)) startProcess(record.requestId, token)
      else if (isNew) begun.set(record.requestId, 0)
      if (calm || own.length === 0) continue
      if (chance(random, 0.002)) own[0]?.end()
      if (chance(random, 0.002)) {
        doubled.add(record.requestId)
        startProcess(record.requestId, token)
      }
      if (chance(random, 0.004)) {
        own[0]?.end()
        startProcess(record.requestId, token)
      }
      if (chance(random, 0.006)) own[0]?.silence(clock.now() + between(0, 60_000))
    }
    for (const one of processes) if (!one.hasEnded() && chance(random, 0.7)) one.step()
    const due = lateActs.filter(({ atMs }) => atMs <= clock.now())
    lateActs.splice(0, lateActs.length, ...lateActs.filter(({ atMs }) => atMs > clock.now()))
    for (const { act } of due) act()
  }

  const tickets: string[] = []
  const joins: { readonly join: string; readonly server: string }[] = []

  /** Performs players' actions on a running matchmaker. A refusal is a correct answer. */
  const play = (matchmaker: Matchmaker) => {
    const attempt = (act: () => void) => {
      try {
        act()
      } catch (error) {
        if (error instanceof TypeError || error instanceof RangeError) broken.add(`threw ${String(error.stack)}`)
      }
    }
    if (!calm && chance(random, 0.25)) {
      const one = oneOf(random, ...PLAYERS)
      const players = chance(random, 0.8) ? [one] : [one, oneOf(random, ...PLAYERS)]
      const queue = chance(random, 0.85) ? 'duel' : 'own'
      attempt(() => {
        const id = `t${tickets.length}`
        tickets.push(id)
        matchmaker.createTicket({ id, queue, players: players.map((player) => ({ id: player, ip: '192.0.2.7' })) })
      })
    }
    if (!calm && chance(random, 0.01)) attempt(() => void matchmaker.cancelTicket(oneOf(random, ...tickets)))
    if (!calm && chance(random, 0.005))
      attempt(() => {
        const { matches } = matchmaker.inspect()
        const { matchId, requestId } = oneOf(random, ...matches) ?? { matchId: '', requestId: undefined }
        // A stop of a pool's server ends all of its matches.
        for (const one of matches) if (one.requestId === requestId) excused.add(one.matchId)
        excused.add(matchId)
        void matchmaker.stopMatch(matchId).catch(() => {})
      })
    for (const id of tickets) {
      attempt(() => {
        const ticket = matchmaker.getTicket(id)
        if (ticket?.status !== 'HOST_ASSIGNED' || ticket.ended !== undefined) return
        for (const player of ticket.players) {
          const join = matchmaker.joinToken(ticket, player.id)
          if (join === undefined) continue
          if (chance(random, 0.05)) joins.push({ join, server: ticket.assignment?.fqdn ?? '' })
          const there = processes.filter(({ requestId }) => ticket.assignment?.fqdn === `${requestId}.example.com`)
          if (chance(random, 0.5)) for (const one of there) one.connect(player.id, join)
          if (chance(random, 0.005)) for (const one of there) one.leave(player.id)
        }
      })
    }
  }

  /** Checks the store's invariants. They must hold at any moment, because a crash may follow. */
  const checkStored = () => {
    const named = new Map<string, number>()
    for (const { serverId } of recordsOf<MatchRecord>(disk.memory, 'match'))
      if (serverId !== undefined) named.set(serverId, (named.get(serverId) ?? 0) + 1)
    for (const { serverId, pool: ofPool, matchesServed = 0 } of recordsOf<ServerRecord>(disk.memory, 'server'))
      if (ofPool !== undefined && matchesServed < (named.get(serverId) ?? 0))
        broken.add(`stored: ${named.get(serverId)} matches name ${serverId}, which has counted ${matchesServed}`)
  }

  /** Checks the invariants that must hold at any moment. */
  const check = async ({ matchmaker }: Life) => {
    let matches: ReturnType<Matchmaker['inspect']>['matches']
    try {
      matches = matchmaker.inspect().matches
    } catch {
      return
    }
    const places = new Map<string, string>()
    const players = new Map<string, string>()
    const living = processes.filter((one) => !one.hasEnded())
    for (const { token, instance, requestId } of living) {
      const orders = await unlessWaiting(matchmaker.waitForServerOrders(token, { instance, version: -1, waitMs: 0 }))
      for (const { id, teams } of orders?.matches ?? []) {
        const there = places.get(id)
        if (there !== undefined) broken.add(`match ${id} is on two servers`)
        places.set(id, token)
        const sent = sentTo.get(id)
        if (sent !== undefined && sent !== requestId)
          broken.add(`match ${id} is on ${requestId}, its players on ${sent}`)
        for (const { id: player } of teams.flatMap((team) => team.players)) {
          const other = players.get(player)
          if (other !== undefined && other !== id) broken.add(`player ${player} is in two matches`)
          players.set(player, id)
        }
      }
      if ((orders?.matches.length ?? 0) > capacity) broken.add(`${orders?.matches.length} matches on a server`)
    }
    const servers = matches.filter(({ queue, phase }) => queue !== 'duel' && phase !== 'stopping').length
    // In some changed configurations, matches of other queues are on servers of the pool, too.
    if (servers > MOST_SERVERS && !changes) broken.add(`${servers} servers, of ${MOST_SERVERS} at most`)
    for (const { join, server } of joins.splice(0)) {
      for (const one of living)
        if (`${one.requestId}.example.com` !== server && one.admits(join))
          broken.add(`${one.requestId} admits a player of ${server}`)
    }
  }

  const step = async () => {
    await clock.advance(STEP_MS)
    runServers()
    checkStored()
    if (life === undefined || life.isDead()) return
    play(life.matchmaker)
    if (!life.isDead()) await check(life)
  }

  for (let at = 0; at < BAD_MS; at += STEP_MS) {
    await step()
    if (chance(random, 0.005)) offMs += oneOf(random, 4000, 60_000, 3_600_000)
    if (life !== undefined && !life.isDead() && chance(random, deathShare)) life.kill()
    if (life?.isDead() !== true) continue
    const downMs = oneOf(random, 0, between(0, 5000), between(0, 40_000))
    for (let down = 0; down < downMs; down += STEP_MS) await step()
    if (chance(random, 0.3)) offMs += oneOf(random, -3_600_000, -5000, 5000, 3_600_000)
    life = begin()
  }
  calm = true
  if (changes) life?.kill()
  life?.spare()
  if (life === undefined || life.isDead()) life = begin()
  const last = life
  last.spare()
  await step()
  for (let at = 0; at < CALM_MS; at += STEP_MS) {
    await step()
    // A server without a process cannot end its match, so the operator ends it.
    if (at === 20_000 || at === 70_000)
      for (const { matchId, queue, requestId } of last.matchmaker.inspect().matches) {
        if (queue === 'arena' || processes.some((one) => one.requestId === requestId && !one.hasEnded())) continue
        excused.add(matchId)
        void last.matchmaker.stopMatch(matchId).catch(() => {})
      }
  }

  for (const id of tickets) {
    const ticket = last.matchmaker.getTicket(id)
    if (ticket === undefined || ticket.ended !== undefined || ticket.status === 'CANCELLED') continue
    // A clock that was set back makes tickets wait longer.
    if (ticket.status === 'SEARCHING' && clock.now() + offMs < ticket.createdAt + EXPIRE_MS) continue
    broken.add(`ticket ${id} is still ${ticket.status} in match ${ticket.matchId}`)
  }
  const { matches } = last.matchmaker.inspect()
  for (const { matchId, queue, phase, requestId } of matches)
    if (queue !== 'arena') broken.add(`match ${matchId} of ${queue} on ${requestId} is still ${phase}`)
  const known = matches.map(({ requestId }) => requestId)
  const kept = service.unstopped()
  for (const requestId of kept) if (!known.includes(requestId)) broken.add(`${requestId} is nobody's`)
  for (const requestId of kept)
    if (!processes.some((one) => one.requestId === requestId && !one.hasEnded()))
      broken.add(`${requestId} is kept, and no process runs there`)
  if (kept.length !== pool.places?.length) broken.add(`${kept.length} servers are kept: ${kept.join()}`)
  await clock.until(last.matchmaker.close({ stopServers: true, timeoutMs: 20_000 }))
  await clock.advance(2 * STEP_MS)
  for (const requestId of service.unstopped()) broken.add(`${requestId} is left`)
  return { broken: [...broken], assigned, deaths, deployments: service.records.length, served: sentTo.size }
}
