import type { Random } from '@muster/core/clock'
import type { Player, QueueDefinition } from '@muster/matchmaker'

export type Region = 'west' | 'east'

/** The arrivals of tickets over hours of virtual time. */
export interface WaitScene {
  readonly what: string
  readonly queue: QueueDefinition
  readonly hours: number
  /** Tickets per second. @param s seconds from the start. */
  readonly load: (s: number, region: Region) => number
  /** True if some tickets are parties. */
  readonly parties: boolean
  /** Returns true if a ticket that is created `s` seconds after the start counts. Default: all tickets count. */
  readonly counts?: (s: number) => boolean
}

const deploy = { application: 'game', version: '1' }
const rules: QueueDefinition['rules'] = [
  {
    kind: 'distance',
    maxKm: [
      { afterMs: 0, value: 1000 },
      { afterMs: 10_000, value: 2500 },
      { afterMs: 30_000, value: 5000 },
    ],
  },
  {
    kind: 'difference',
    attribute: 'skill',
    max: [
      { afterMs: 0, value: 50 },
      { afterMs: 10_000, value: 150 },
      { afterMs: 30_000, value: 400 },
    ],
  },
]
export const ranked: QueueDefinition = { name: 'ranked', teams: [{ name: 'team', count: 2, size: 5 }], rules, deploy }

/**
 * Length of a day in seconds, in which load is low and high. When it is evening in the west, it is night in the east.
 */
const DAY_S = 4 * 3600
const day = (s: number, region: Region, least: number, most: number) =>
  least + (most - least) * (0.5 - 0.5 * Math.cos(2 * Math.PI * (s / DAY_S + (region === 'west' ? 0 : 0.35))))
const between = (s: number, from: number, to: number) => s >= from && s < to

/** Load with bursts of 20 s at intervals. Only tickets of the five minutes after each burst count. */
const bursts = (everyS: number, usual: number, more: number) => ({
  hours: 4,
  load: (s: number) => usual + (s % everyS < 20 ? more : 0),
  counts: (s: number) => s > everyS && between(s % everyS, 20, 320),
})
const QUARTER_S = 900
const SIX_MINUTES_S = 360

export const SCENES: readonly WaitScene[] = [
  {
    what: '5v5 with parties, a day in four hours, a third of the load at times, then three times',
    queue: ranked,
    hours: 4,
    load: (s, region) =>
      day(s, region, 0.3, 2.5) * (between(s % 7200, 4300, 5400) ? 0.33 : 1) * (between(s, 13_000, 14_000) ? 3 : 1),
    parties: true,
  },
  {
    what: '5v5 with parties, another load every half an hour',
    queue: ranked,
    hours: 3,
    load: (s, region) => ([1, 4, 0.5, 2, 3, 1][Math.floor(s / 1800) % 6] ?? 1) * (region === 'west' ? 0.6 : 0.3),
    parties: true,
  },
  {
    what: 'pairs, a day in four hours, from 3 tickets a minute to 60',
    queue: { name: 'duel', matchSize: 2, rules, deploy },
    hours: 4,
    load: (s, region) => day(s, region, 0.05, 1),
    parties: false,
  },
  {
    what: '5v5 with parties, the 5 minutes after each burst of 20 s, four an hour',
    queue: ranked,
    parties: true,
    ...bursts(QUARTER_S, 0.5, 20),
  },
  {
    what: 'pairs, the 5 minutes after each burst of 20 s, four an hour',
    queue: { name: 'duel', matchSize: 2, rules, deploy },
    parties: false,
    ...bursts(QUARTER_S, 0.1, 10),
  },
  {
    what: '5v5 with parties, the 5 minutes after each burst of 20 s, ten an hour',
    queue: ranked,
    parties: true,
    ...bursts(SIX_MINUTES_S, 0.5, 20),
  },
  {
    what: 'pairs, the 5 minutes after each burst of 20 s, ten an hour',
    queue: { name: 'duel', matchSize: 2, rules, deploy },
    parties: false,
    ...bursts(SIX_MINUTES_S, 0.1, 10),
  },
]

const CITIES: Readonly<Record<Region, readonly (readonly [latitude: number, longitude: number])[]>> = {
  west: [
    [40.7, -74],
    [34, -118.2],
    [41.9, -87.6],
    [29.8, -95.4],
    [47.6, -122.3],
  ],
  east: [
    [51.5, -0.1],
    [48.9, 2.3],
    [52.5, 13.4],
    [40.4, -3.7],
    [45.5, 9.2],
  ],
}

/** Draws the players of a ticket. With parties, 60 % of tickets have one player and 5 % have five. */
export function drawPlayers(random: Random, region: Region, ticket: number, parties: boolean): Player[] {
  const [latitude, longitude] = CITIES[region][Math.floor(random() * 5)] ?? [0, 0]
  const coordinates = { latitude: latitude + random(), longitude: longitude + random() }
  const spread = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  const attributes = { skill: Math.max(0, Math.min(3000, 1500 + 300 * spread)) }
  const drawn = random()
  const size = !parties || drawn < 0.6 ? 1 : drawn < 0.8 ? 2 : drawn < 0.9 ? 3 : drawn < 0.95 ? 4 : 5
  return Array.from({ length: size }, (_, player) => ({ id: `p${ticket}-${player}`, coordinates, attributes }))
}
