import { seededRandom, type Random } from '@muster/core/clock'
import type { Crowd } from '@muster/lab'
import type { CrowdParty } from '@muster/lab/internal'
import type { QueueDefinition } from '@muster/matchmaker'
import type { TimedLimit } from '@muster/matchmaker/internal'

type City = readonly [latitude: number, longitude: number]
function region(name: string, share: number, ...cities: readonly City[]) {
  return { name, share, cities }
}

/** Regions that are too far apart to play together, each with its share of the players. */
export const REGIONS = [
  region('Europe', 0.4, [51.5, -0.1], [48.9, 2.3], [52.5, 13.4], [40.4, -3.7], [45.5, 9.2]),
  region('North America', 0.35, [40.7, -74], [34, -118.2], [41.9, -87.6], [29.8, -95.4]),
  region('South-East Asia', 0.15, [1.3, 103.8], [14.6, 121], [13.7, 100.5], [-6.2, 106.8]),
  region('Oceania', 0.1, [-33.9, 151.2], [-37.8, 145], [-36.8, 174.8]),
] as const

/** Limits from the strictest to the loosest value that designers would set. */
export const BOUNDS = { skill: [25, 800], km: [250, 6000] } as const

export interface TargetScene {
  readonly what: string
  readonly targetS: number
  readonly teamSize: number
  readonly hours: number
  /** Tickets per second in all regions. @param share share of the day that has passed, from 0 to 1 */
  readonly load: (share: number) => number
  /** True if some tickets are parties. */
  readonly parties: boolean
  /** Shares of the day at which the load changes tenfold at once. */
  readonly changes: readonly number[]
}

/** Load that changes tenfold by a sine. It is lowest at the beginning and the end. */
const day = (most: number): Pick<TargetScene, 'load' | 'changes'> => ({
  load: (share) => (most / 10) * 10 ** (0.5 - 0.5 * Math.cos(2 * Math.PI * share)),
  changes: [],
})
/**
 * Load that changes tenfold at once: down after a quarter of the day, up after a half, and down after three quarters.
 */
const steps = (most: number): Pick<TargetScene, 'load' | 'changes'> => ({
  load: (share) => (Math.floor(share * 4) % 2 === 0 ? most : most / 10),
  changes: [0.25, 0.5, 0.75],
})
const pairs = { targetS: 30, teamSize: 1, hours: 4, parties: false }
const fives = { targetS: 90, teamSize: 5, hours: 4, parties: true }

export const SCENES: readonly TargetScene[] = [
  { what: 'pairs, a day in 4 h', ...pairs, ...day(4) },
  { what: 'pairs, steps of load', ...pairs, ...steps(4) },
  { what: '5v5 with parties, a day in 4 h', ...fives, ...day(8) },
  { what: '5v5 with parties, steps of load', ...fives, ...steps(8) },
]

/**
 * Seconds before the day with its first load, and after it with its last load. So neither the start nor the end is
 * measured.
 */
export const WARM_UP_S = 1200
const AFTERWARDS_S = 600

/**
 * Creates the crowd of a scene. Skill is normally distributed with a standard deviation of 400. With parties, 60 % of
 * tickets have one player and 5 % have five.
 */
export function crowdOf({ hours, load, parties }: TargetScene, seed: number): Crowd {
  const random = seededRandom(seed)
  const seconds = hours * 3600
  const coming: CrowdParty[] = []
  let at = 0
  for (;;) {
    const share = Math.min(0.9999, Math.max(0, at - WARM_UP_S) / seconds)
    at += -Math.log(1 - random()) / load(share)
    if (at >= seconds + WARM_UP_S + AFTERWARDS_S) break
    coming.push(drawParty(random, coming.length, Math.round(at * 1000), parties))
  }
  const durationMs = (seconds + WARM_UP_S + AFTERWARDS_S) * 1000
  return { header: { format: 'muster-crowd-1', startsAt: 1_800_000_000_000, durationMs }, parties: coming }
}

function drawParty(random: Random, number: number, at: number, parties: boolean): CrowdParty {
  let drawn = random()
  const { name, cities } = REGIONS.find(({ share }) => (drawn -= share) < 0) ?? REGIONS[0]
  const [latitude, longitude] = cities[Math.floor(random() * cities.length)] ?? [0, 0]
  const coordinates = { latitude: latitude + random(), longitude: longitude + random() }
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  const attributes = { skill: Math.max(0, Math.min(3000, 1500 + 400 * normal)) }
  const kind = random()
  const size = !parties || kind < 0.6 ? 1 : kind < 0.8 ? 2 : kind < 0.9 ? 3 : kind < 0.95 ? 4 : 5
  const players = Array.from({ length: size }, (_, player) => ({
    id: `p${number}-${player}`,
    coordinates,
    attributes,
    region: name,
  }))
  return { id: `t${number}`, at, players, visits: [{ patienceMs: 7_200_000, playMs: 1 }] }
}

const queue = (scene: TargetScene, skill: TimedLimit | object, km: TimedLimit | object): QueueDefinition => ({
  name: 'ranked',
  teams: [{ name: 'team', count: 2, size: scene.teamSize }],
  rules: [
    { kind: 'distance', maxKm: km as TimedLimit },
    { kind: 'difference', attribute: 'skill', max: skill as TimedLimit },
  ],
  expireAfterMs: 7_200_000,
  deploy: { application: 'game', version: '1' },
})

/** Returns the queue with a target wait. */
export const targeted = (scene: TargetScene): QueueDefinition => ({
  ...queue(
    scene,
    { strictest: BOUNDS.skill[0], loosest: BOUNDS.skill[1] },
    { strictest: BOUNDS.km[0], loosest: BOUNDS.km[1] },
  ),
  targetWaitMs: scene.targetS * 1000,
})

/** A schedule set by hand: the start of limits, from 0 (strictest) to 1 (loosest), and how fast they grow. */
export interface FixedSchedule {
  readonly from: number
  /** Seconds in which a limit would grow from the strictest to the loosest value. */
  readonly spanS: number
}

const MOST_STEPS = 19

/**
 * Returns the queue with limits that grow by equal factors from their start, in as many steps as a definition may have.
 */
export function scheduled(scene: TargetScene, { from, spanS }: FixedSchedule): QueueDefinition {
  const stairs = ([strictest, loosest]: readonly [number, number]) =>
    Array.from({ length: MOST_STEPS + 1 }, (_, step) => {
      const share = from + ((1 - from) * step) / MOST_STEPS
      const afterMs = (1000 * spanS * (1 - from) * step) / MOST_STEPS
      return { afterMs, value: strictest * (loosest / strictest) ** share }
    })
  return queue(scene, stairs(BOUNDS.skill), stairs(BOUNDS.km))
}
