import type {
  FormingMatch,
  FormingPhase,
  Money,
  Now,
  ProblemNow,
  QueueNow,
  RelaxedStep,
  ServerCluster,
  ServersNow,
  WaitingCluster,
} from '@muster/console/internal'
import type { AreaSurvey, FormingSurvey, QueueSurvey, ServerSurvey, Surveyed } from '@muster/matchmaker'
import type { ConsoleOptions, ConsoleSpending } from '../options.js'
import { type ActivityCounts, RecentSum } from '../activity.js'
import type { Problems } from '../problems.js'

const DEGREES = 3

type Cluster = { -readonly [Key in keyof AreaSurvey]: AreaSurvey[Key] }

const tenth = (degrees: number) => Math.round(degrees * 10) / 10

/** Returns the waiting players by area. If there are more than `most` areas, they are merged into larger ones. */
function waitingClusters(areas: readonly AreaSurvey[], most: number, now: number): WaitingCluster[] {
  let clusters: readonly AreaSurvey[] = areas
  for (let degrees = DEGREES * 2; clusters.length > most; degrees *= 2) clusters = joined(areas, degrees)
  return clusters.map(({ latitude, longitude, players, oldest }) => ({
    latitude: tenth(latitude),
    longitude: tenth(longitude),
    players,
    oldest: Math.max(0, Math.round(now - oldest)),
  }))
}

/**
 * Merges areas into clusters of `degrees` degrees. Each cluster is placed at the mean of its players' areas. Areas are
 * coarse, so that no single player can be located.
 */
function joined(areas: readonly AreaSurvey[], degrees: number): AreaSurvey[] {
  const clusters = new Map<string, Cluster>()
  for (const { latitude, longitude, players, oldest } of areas) {
    const key = `${Math.floor((latitude + 90) / degrees)} ${Math.floor((longitude + 180) / degrees)}`
    const cluster = clusters.get(key)
    if (cluster === undefined) {
      clusters.set(key, { latitude, longitude, players, oldest })
      continue
    }
    const all = cluster.players + players
    cluster.latitude += ((latitude - cluster.latitude) * players) / all
    cluster.longitude += ((longitude - cluster.longitude) * players) / all
    cluster.players = all
    cluster.oldest = Math.min(cluster.oldest, oldest)
  }
  return [...clusters.values()]
}

/**
 * Returns the servers by location, for the `most` locations with the most servers. Servers of unknown location are
 * omitted.
 */
function serverClusters(servers: readonly ServerSurvey[], most: number): ServerCluster[] {
  const clusters = new Map<string, ServerCluster & { starting: number; running: number; players: number }>()
  for (const { place, city, phase, servers: count, players } of servers) {
    if (place === undefined || phase === 'stopping') continue
    const key = `${place.latitude} ${place.longitude}`
    const cluster = clusters.get(key) ?? {
      latitude: tenth(place.latitude),
      longitude: tenth(place.longitude),
      city: city ?? null,
      starting: 0,
      running: 0,
      players: 0,
    }
    clusters.set(key, cluster)
    if (phase === 'running') cluster.running += count
    else cluster.starting += count
    cluster.players += players
  }
  const sizeOf = ({ starting, running }: ServerCluster) => starting + running
  return [...clusters.values()].toSorted((one, other) => sizeOf(other) - sizeOf(one)).slice(0, most)
}

export interface NowDeps extends Pick<ConsoleOptions, 'spending' | 'limits'> {
  readonly queueNames: () => readonly string[]
  readonly surveyed: () => Surveyed | undefined
  /** Returns true if this process knows all locations and counts all matches: false while another process leads. */
  readonly seesAll: () => boolean
  readonly activity: ActivityCounts
  readonly problems: Problems
  readonly bill: Bill
  /** Returns the time in epoch milliseconds. */
  readonly now: () => number
}

/** Maximum lengths of a frame's lists: see the wire types of `@muster/console`. */
interface FrameBounds {
  readonly areas: number
  readonly places: number
  readonly steps: number
  readonly problems: number
  readonly forming: number
}

const USUAL: FrameBounds = { areas: 400, places: 200, steps: 12, problems: 30, forming: 50 }
/** Bounds for a frame that would otherwise be larger than `MOST_BYTES`. */
const TIGHT: FrameBounds = { areas: 120, places: 60, steps: 4, problems: 10, forming: 20 }

const MOST_QUEUES = 50
const MOST_LIMITS = 20
/** Maximum size of a frame in bytes. */
const MOST_BYTES = 64 * 1024

const NOTHING_SEEN: Surveyed = {
  queues: [],
  areas: [],
  nowhere: 0,
  forming: [],
  formingCount: 0,
  servers: [],
  gameServers: [],
  pools: [],
  blockedBy: undefined,
}

/** Returns the current state of everything, as JSON of at most 64 KiB. */
export function nowText(deps: NowDeps, ready: Now['ready']): string {
  const text = JSON.stringify(nowOf(deps, ready, USUAL))
  return Buffer.byteLength(text) <= MOST_BYTES ? text : JSON.stringify(nowOf(deps, ready, TIGHT))
}

function nowOf(deps: NowDeps, ready: Now['ready'], bounds: FrameBounds): Now {
  const { queueNames, surveyed: latest, problems, limits } = deps
  const now = deps.now()
  const seen = latest() ?? NOTHING_SEEN
  const names = queueNames()
  const byName = new Map(seen.queues.map((queue) => [queue.name, queue]))
  const shown = names.slice(0, MOST_QUEUES)
  return {
    at: Math.floor(now),
    ready,
    queues: shown.map((name) => queueNow(name, byName.get(name), deps, bounds)),
    queuesLeftOut: names.length - shown.length,
    map: {
      waiting: waitingClusters(seen.areas, bounds.areas, now),
      nowhere: seen.nowhere,
      seen: deps.seesAll(),
      servers: serverClusters(seen.servers, bounds.places),
    },
    forming: seen.forming.slice(0, bounds.forming).map(formingMatch),
    formingLeftOut: Math.max(0, seen.formingCount - bounds.forming),
    servers: serversNow(seen, deps),
    limits: (limits?.() ?? []).toSorted((one, other) => other.used - one.used).slice(0, MOST_LIMITS),
    problems: [...blockedProblem(seen, now), ...problems.list()].slice(0, bounds.problems),
  }
}

function queueNow(
  name: string,
  seen: QueueSurvey | undefined,
  { activity, seesAll, now: clock }: NowDeps,
  { steps }: FrameBounds,
): QueueNow {
  const now = clock()
  const { arrivals, matches, lastHour } = activity.of(name)
  return {
    name,
    paused: seen?.paused ?? false,
    tickets: seen?.tickets ?? 0,
    players: seen?.players ?? 0,
    arrivalsPerMinute: seesAll() ? arrivals.within(now) : null,
    matchesPerMinute: seesAll() ? matches.within(now) : null,
    waitP50: lastHour.quantile(0.5),
    waitP95: lastHour.quantile(0.95),
    oldest: seen?.oldest === undefined ? null : Math.max(0, Math.round(now - seen.oldest)),
    relaxed: relaxedSteps(seen?.relaxed ?? [], steps),
  }
}

/** Returns at most `most` steps. If there are more, neighbours are merged, and each result contains about as many. */
function relaxedSteps(relaxed: QueueSurvey['relaxed'], most: number): RelaxedStep[] {
  const each = Math.max(1, Math.ceil(relaxed.length / most))
  const steps: { after: number; tickets: number }[] = []
  for (const [index, { afterMs, tickets }] of relaxed.entries()) {
    const last = steps.at(-1)
    if (last === undefined || index % each === 0) steps.push({ after: afterMs, tickets })
    else last.tickets += tickets
  }
  return steps
}

const phases: Readonly<Record<FormingSurvey['phase'], FormingPhase>> = {
  asking: 'accepting',
  due: 'allocating',
  creating: 'allocating',
  finding: 'allocating',
  retrying: 'allocating',
  starting: 'starting',
  warming: 'waiting',
  running: 'waiting',
  stopping: 'waiting',
}

const formingMatch = ({ matchId, queue, phase, players, foundAt, area }: FormingSurvey): FormingMatch => ({
  matchId,
  queue,
  phase: phases[phase],
  players,
  since: Math.floor(foundAt),
  spot: area === undefined ? null : { latitude: area.latitude, longitude: area.longitude },
})

/** The states of servers, in the order in which a server passes through them. */
const STATES = ['creating', 'finding', 'retrying', 'starting', 'warming', 'running', 'stopping'] as const

function serversNow(
  { servers }: Surveyed,
  { activity, bill, seesAll, spending: spendingOf, now }: NowDeps,
): ServersNow {
  const spending = spendingOf()
  const countOf = (state: string) =>
    servers.reduce((sum, { phase, servers: count }) => (phase === state ? sum + count : sum), 0)
  return {
    byState: STATES.map((state) => ({ state, count: countOf(state) })),
    own: serverCount({ servers }) - paidServers({ servers }),
    most: finite(spending.maxServers),
    createsPerMinute: seesAll() ? activity.creates.within(now()) : null,
    mostCreatesPerMinute: finite(spending.maxCreatesPerMinute),
    money: bill.now(paidServers({ servers }), spending),
  }
}

export const serverCount = ({ servers }: Pick<Surveyed, 'servers'>): number =>
  servers.reduce((sum, { servers: count }) => sum + count, 0)

/** Returns the number of servers that cost money. Servers that enrolled do not. */
export const paidServers = ({ servers }: Pick<Surveyed, 'servers'>): number =>
  serverCount({ servers: servers.filter(({ isEnrolled }) => !isEnrolled) })

const finite = (bound: number) => (Number.isFinite(bound) ? bound : null)

const whyBlocked: Readonly<Record<NonNullable<Surveyed['blockedBy']>, string>> = {
  maxServers: 'No more servers are created: maxServers is reached. Matches wait until a server ends.',
  maxStarting: 'No more servers are created for now: maxStarting is reached.',
  maxCreatesPerMinute: 'No more servers are created this minute: maxCreatesPerMinute is reached.',
  budget: 'No more servers are created: a spending bound that all processes share is reached.',
  paused: 'The service refuses to create servers, or cannot be reached. Muster tries again every few seconds.',
  unstoppable:
    'The service does not answer lists, or refuses a stop. So Muster creates no further servers: it could not stop ' +
    'them. `muster check --live` says what is wrong.',
  store: 'The store cannot be written, so no servers are created, because Muster would not know them after a crash.',
}

const blockedProblem = ({ blockedBy }: Surveyed, now: number): ProblemNow[] =>
  blockedBy === undefined ? [] : [{ at: Math.floor(now), text: whyBlocked[blockedBy], count: 1, matchId: null }]

/** Computes the cost of servers from their number and a price. */
type Bill = ReturnType<typeof createBill>

const HOUR_MS = 3_600_000
/** Milliseconds of each piece in which the server time of the hour is summed. */
const PIECE_MS = 10_000

export function createBill(since: number) {
  /** Server time in the last hour, in milliseconds. */
  const serverMs = new RecentSum(HOUR_MS / PIECE_MS, PIECE_MS)
  let notedAt = since
  let noted = 0

  return {
    /** Records the current number of servers. */
    note: (servers: number, now: number) => {
      // Until this call, the number of servers was the one recorded last.
      serverMs.add(now, noted * Math.max(0, now - notedAt))
      notedAt = now
      noted = servers
    },
    /** Returns the current cost; null without a price. */
    now: (servers: number, { pricePerMinute, currency = '' }: ConsoleSpending): Money | null => {
      if (pricePerMinute === undefined) return null
      return {
        currency,
        pricePerMinute,
        perHourNow: rounded(servers * pricePerMinute * 60),
        lastHour: rounded((serverMs.within(notedAt) / 60_000) * pricePerMinute),
        since: Math.floor(Math.max(since, notedAt - HOUR_MS)),
      }
    },
  }
}

const rounded = (amount: number) => Math.round(amount * 10_000) / 10_000
