import { seededRandom } from '@muster/core/clock'
import type {
  FormingMatch,
  FormingPhase,
  Hello,
  History,
  HistoryStep,
  Now,
  QueueNow,
  Role,
  ServerCluster,
  WaitingCluster,
} from '@muster/console/internal'

/** The state that the fake server shows. */
export interface Scene {
  readonly players: number
  readonly matches: number
  readonly queues: readonly { readonly name: string; readonly share: number; readonly waitMs: number }[]
  readonly isReady: boolean
  readonly hasPrice: boolean
  readonly hasPlaces: boolean
  readonly problems: Now['problems']
  /** Minutes of history that the page shows. */
  readonly minutes: number
  readonly paused: readonly string[]
  /** Name of the process that does the matching, if it is another process. */
  readonly leader?: string | undefined
}

const HOUR_MS = 3_600_000
const STEP_MS = 10_000

const queues: Scene['queues'] = [
  { name: 'duel', share: 0.45, waitMs: 3200 },
  { name: 'ranked-5v5', share: 0.4, waitMs: 14_000 },
  { name: 'social', share: 0.15, waitMs: 6500 },
]
const usual = { queues, isReady: true, hasPrice: true, hasPlaces: true, problems: [], minutes: 60, paused: [] }

export const nobody: Scene = { ...usual, players: 0, matches: 0, minutes: 12 }
export const some: Scene = { ...usual, players: 248, matches: 14 }
export const many: Scene = { ...usual, players: 10_000, matches: 500 }
export const tooMany: Scene = { ...many, players: 100_000, hasPrice: false, hasPlaces: false }
/** The console of a follower, i.e. of a process that does not do the matching. */
export const follower: Scene = { ...some, players: 251, leader: 'game-eu-west-7f9c4b6d8-x2k4q (process 1)' }

/** A day with problems. */
export const trouble = (at: number): Scene => ({
  ...some,
  players: 1840,
  isReady: false,
  paused: ['social'],
  problems: [
    {
      at: at - 4000,
      text: 'Servers for ranked-5v5 could not be created: the service has no capacity in Frankfurt.',
      count: 12,
      matchId: 'match-7f3a91c2',
    },
    { at: at - 95_000, text: 'The profile endpoint answered after 3.1 s on average.', count: 1, matchId: null },
    { at: at - 1_260_000, text: 'A server was lost, and its match was ended.', count: 2, matchId: 'match-01b7aa90' },
  ],
})

const cities: readonly (readonly [city: string, latitude: number, longitude: number, weight: number])[] = [
  ['Frankfurt', 50.1, 8.7, 9],
  ['London', 51.5, -0.1, 8],
  ['Paris', 48.9, 2.4, 7],
  ['Warsaw', 52.2, 21, 5],
  ['Madrid', 40.4, -3.7, 4],
  ['Stockholm', 59.3, 18.1, 3],
  ['Istanbul', 41, 29, 5],
  ['New York', 40.7, -74, 9],
  ['Chicago', 41.9, -87.6, 6],
  ['Dallas', 32.8, -96.8, 5],
  ['Los Angeles', 34.1, -118.2, 7],
  ['Seattle', 47.6, -122.3, 3],
  ['São Paulo', -23.5, -46.6, 7],
  ['Buenos Aires', -34.6, -58.4, 3],
  ['Bogotá', 4.7, -74.1, 2],
  ['Lagos', 6.5, 3.4, 2],
  ['Johannesburg', -26.2, 28, 2],
  ['Dubai', 25.2, 55.3, 3],
  ['Mumbai', 19.1, 72.9, 5],
  ['Singapore', 1.4, 103.8, 6],
  ['Jakarta', -6.2, 106.8, 4],
  ['Hong Kong', 22.3, 114.2, 4],
  ['Seoul', 37.6, 127, 8],
  ['Tokyo', 35.7, 139.7, 8],
  ['Sydney', -33.9, 151.2, 4],
  ['Auckland', -36.8, 174.8, 1],
]
const allWeight = cities.reduce((sum, [, , , weight]) => sum + weight, 0)

/** Returns a value that rises and falls over the hour, so that plots have a shape. */
const wave = (at: number, phase: number) =>
  1 + 0.35 * Math.sin((at / HOUR_MS) * 9 + phase) + 0.12 * Math.sin((at / HOUR_MS) * 47 + phase * 3)

function areasOf({ players, hasPlaces }: Scene, at: number): readonly WaitingCluster[] {
  if (players === 0 || !hasPlaces) return []
  const random = seededRandom(players)
  const spread = Math.min(400, Math.max(12, Math.round(players / 20)))
  const areas = new Map<string, WaitingCluster>()
  for (let index = 0; index < spread; index++) {
    const [, latitude, longitude, weight] = cities[index % cities.length] as (typeof cities)[number]
    const far = index < cities.length ? 0 : 9
    const spot = {
      latitude: Math.round(latitude + (random() - 0.5) * far),
      longitude: Math.round(longitude + (random() - 0.5) * far * 1.6),
    }
    const here = (players * weight * (0.4 + random())) / allWeight / (spread / cities.length)
    const count = Math.max(1, Math.round(here * wave(at * 20, index)))
    areas.set(`${spot.latitude} ${spot.longitude}`, { ...spot, players: count, oldest: 2000 + random() * 60_000 })
  }
  return [...areas.values()]
}

function serversOf({ matches, hasPlaces }: Scene): readonly ServerCluster[] {
  if (matches === 0 || !hasPlaces) return []
  return cities.slice(0, Math.max(3, Math.min(cities.length, matches))).map(([city, latitude, longitude, weight]) => {
    const running = Math.max(1, Math.round((matches * 1.4 * weight) / allWeight))
    return { city, latitude, longitude, starting: running % 3, running, players: running * 2 }
  })
}

const phases: readonly FormingPhase[] = ['starting', 'waiting', 'allocating', 'accepting']

function formingOf(scene: Scene, at: number): readonly FormingMatch[] {
  const random = seededRandom(7)
  return Array.from({ length: Math.min(50, scene.matches) }, (_, index) => {
    const [, latitude, longitude] = cities[Math.floor(random() * cities.length)] as (typeof cities)[number]
    const queue = scene.queues[index % scene.queues.length]?.name ?? ''
    return {
      matchId: `match-${Math.floor(random() * 0xff_ff_ff_ff)
        .toString(16)
        .padStart(8, '0')}`,
      queue,
      phase: phases[index % phases.length] as FormingPhase,
      players: queue === 'ranked-5v5' ? 10 : queue === 'duel' ? 2 : 8,
      since: at - (50 - index) * 240,
      spot: scene.hasPlaces ? { latitude: Math.round(latitude), longitude: Math.round(longitude) } : null,
    }
  })
}

function queueNow(scene: Scene, index: number): QueueNow {
  const { name, share, waitMs } = scene.queues[index] as Scene['queues'][number]
  const players = Math.round(scene.players * share)
  const tickets = Math.round(players * 0.8)
  const steps = [0.55, 0.25, 0.14, 0.06].map((part) => Math.round(tickets * part))
  return {
    name,
    paused: scene.paused.includes(name),
    tickets,
    players,
    arrivalsPerMinute: scene.leader === undefined ? players * 4.1 : null,
    matchesPerMinute: scene.leader !== undefined ? null : (players * 4) / (name === 'duel' ? 2 : 9),
    waitP50: players === 0 ? null : waitMs,
    waitP95: players === 0 ? null : waitMs * 2.7,
    oldest: players === 0 ? null : waitMs * 4.2,
    relaxed: steps.map((count, step) => ({ after: [0, 10_000, 30_000, 60_000][step] as number, tickets: count })),
  }
}

/** Returns the whole state of a scene at a time. */
export function nowOf(scene: Scene, at: number): Now {
  const forming = formingOf(scene, at)
  const running = Math.round(scene.matches * 1.4)
  const areas = areasOf(scene, at)
  return {
    at,
    ready: {
      is: scene.isReady,
      why: scene.isReady ? [] : ['The service has answered with errors for 40 s.', 'The store is 3 s behind.'],
      ...(scene.leader !== undefined && { leading: false, leader: scene.leader }),
    },
    queues: scene.queues.map((_, index) => queueNow(scene, index)),
    queuesLeftOut: 0,
    map: {
      seen: scene.leader === undefined,
      waiting: scene.leader === undefined ? areas : [],
      nowhere: scene.hasPlaces ? Math.round(scene.players / 90) : scene.players,
      servers: serversOf(scene),
    },
    forming,
    formingLeftOut: Math.max(0, scene.matches - forming.length),
    servers: {
      byState: [
        { state: 'running', count: running },
        { state: 'starting', count: Math.round(scene.matches * 0.3) },
        { state: 'stopping', count: Math.round(scene.matches * 0.08) },
      ],
      own: 0,
      most: 2000,
      createsPerMinute: Math.round(scene.matches * 0.9),
      mostCreatesPerMinute: 1200,
      money: scene.hasPrice
        ? {
            currency: 'EUR',
            pricePerMinute: 0.0021,
            perHourNow: running * 60 * 0.0021,
            lastHour: running * 52 * 0.0021,
            since: at - scene.minutes * 60_000,
          }
        : null,
    },
    limits:
      scene.matches === 0
        ? []
        : [
            {
              operation: 'deployments.create',
              perSecond: 40,
              used: Math.min(1, scene.matches / 520),
              waiting: scene.matches > 400 ? 37 : 0,
            },
            { operation: 'deployments.list', perSecond: 10, used: 0.62, waiting: 0 },
            { operation: 'deployments.get', perSecond: 20, used: 0.18, waiting: 0 },
            { operation: 'deployments.stop', perSecond: 40, used: 0.09, waiting: 0 },
          ],
    problems: scene.problems,
  }
}

/** Returns the history step of a scene at a time. */
export function stepOf(scene: Scene, at: number): HistoryStep {
  return {
    at,
    servers: Math.round(scene.matches * 1.4 * wave(at, 5)),
    queues: scene.queues.map(({ name, share, waitMs }, index) => {
      const players = Math.round(scene.players * share * wave(at, index))
      return {
        name,
        players,
        arrivals: Math.round(players * 0.68),
        matches: Math.round((players * 0.66) / (name === 'duel' ? 2 : 9)),
        waitP50: players === 0 ? null : waitMs * wave(at, index + 1),
        waitP95: players === 0 ? null : waitMs * 2.7 * wave(at, index + 2),
      }
    }),
  }
}

function historyOf(scene: Scene, at: number): History {
  const length = Math.round((scene.minutes * 60_000) / STEP_MS)
  const from = at - (length - 1) * STEP_MS
  const steps = Array.from({ length }, (_, index) => stepOf(scene, from + index * STEP_MS))
  const column = <Value>(name: string, read: (queue: HistoryStep['queues'][number]) => Value) =>
    steps.map(({ queues: all }) => read(all.find((queue) => queue.name === name) as HistoryStep['queues'][number]))
  return {
    step: STEP_MS,
    from,
    length,
    servers: steps.map(({ servers }) => servers),
    queues: scene.queues.map(({ name }) => ({
      name,
      players: column(name, ({ players }) => players),
      arrivals: column(name, ({ arrivals }) => arrivals),
      matches: column(name, ({ matches }) => matches),
      waitP50: column(name, ({ waitP50 }) => waitP50),
      waitP95: column(name, ({ waitP95 }) => waitP95),
    })),
    missing: scene.minutes < 60 ? [`The program was started ${scene.minutes} minutes ago.`] : [],
  }
}

export const helloOf = (scene: Scene, at: number, role: Role, bots: boolean): Hello => ({
  name: 'my-game',
  version: '0.1.0',
  startedAt: at - scene.minutes * 60_000 - (scene.minutes < 60 ? 0 : 93_000_000),
  at,
  who: role === 'operate' ? 'ops-team' : 'support',
  role,
  bots,
  store: 'folder',
  history: historyOf(scene, at),
})
