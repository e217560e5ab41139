import type { QueueDefinition } from '@muster/matchmaker'

/** Milliseconds after which a ticket expires. It is longer in the demo that kills two processes. */
export const EXPIRE_MS = 14_000
export const EXPIRE_IN_PROCESSES_MS = 18_000

const deploy = { application: 'demo-game', version: 'v1' }

/** Rules relax some ten times faster here than in a real game. */
const nearFirst = {
  kind: 'distance',
  maxKm: [
    { afterMs: 0, value: 800 },
    { afterMs: 1500, value: 1500 },
    { afterMs: 3000, value: 3000 },
    { afterMs: 5000, value: 6000 },
  ],
} as const

/** Five against five: similar skill, even teams with a tank and a healer in each, and parties that stay together. */
const ranked: QueueDefinition = {
  name: 'ranked',
  teams: [{ name: 'team', count: 2, size: 5 }],
  rules: [
    nearFirst,
    { kind: 'difference', attribute: 'skill', max: { from: 200, to: 600, startMs: 1000, overMs: 5000 } },
    { kind: 'roles', roles: { tank: 1, healer: 1 }, hard: true },
    { kind: 'balance', attribute: 'skill', max: { from: 60, to: 240, overMs: 6000 } },
    { kind: 'avoid', hard: true },
  ],
  lastResortMs: 7000,
  expireAfterMs: EXPIRE_MS,
  deploy,
}

/** One against one, matched at arrival: the opponent closest in skill, and a server at the best beacon of the two. */
const duel: QueueDefinition = {
  name: 'duel',
  teams: [{ name: 'duellist', count: 2, size: 1 }],
  rules: [
    nearFirst,
    { kind: 'latency', maxMs: { from: 80, to: 200, startMs: 1000, overMs: 5000 }, hard: true },
    { kind: 'difference', attribute: 'skill', max: { from: 60, to: 600, overMs: 6000 } },
  ],
  lastResortMs: 7000,
  expireAfterMs: EXPIRE_MS,
  mode: 'arrival',
  deploy,
}

const fewer = [
  { afterMs: 0, value: 8 },
  { afterMs: 3000, value: 4 },
  { afterMs: 6000, value: 2 },
]

/** Up to twelve players, at least four. Players who come later join running matches before a new match is made. */
const social: QueueDefinition = {
  name: 'social',
  teams: [{ name: 'crew', size: { min: fewer, max: 12 } }],
  rules: [nearFirst],
  fillForMs: 1500,
  lastResortMs: 7000,
  expireAfterMs: EXPIRE_MS,
  backfill: 'first',
  deploy,
}

/** The queue of `--queue-size`: matches of that size, with only a distance rule. */
const plain = (matchSize: number): QueueDefinition => ({
  name: 'plain',
  matchSize,
  rules: [nearFirst],
  lastResortMs: 7000,
  expireAfterMs: EXPIRE_MS,
  deploy,
})

export interface DemoQueue {
  readonly definition: QueueDefinition
  readonly title: string
  /** Share of all players, from 0 to 1. */
  readonly share: number
  /** Possible sizes of parties, each with the same probability. */
  readonly parties: readonly number[]
}

const alone = [1]
const few = [1, 1, 1, 1, 1, 1, 1, 1, 2, 3]

/** Returns the queues of the demo with several processes. */
export const processQueues = (queueSize: number | undefined): readonly DemoQueue[] =>
  demoQueues(queueSize).map((queue) => ({
    ...queue,
    definition: { ...queue.definition, expireAfterMs: EXPIRE_IN_PROCESSES_MS },
  }))

export const demoQueues = (queueSize: number | undefined): readonly DemoQueue[] =>
  queueSize === undefined
    ? [
        { definition: ranked, title: 'ranked 5v5', share: 0.5, parties: [1, 1, 1, 1, 1, 2, 2, 3, 3, 5] },
        { definition: duel, title: 'duel 1v1', share: 0.08, parties: alone },
        { definition: social, title: 'social 4–12', share: 0.42, parties: [1, 1, 1, 1, 1, 1, 2, 2, 3, 4] },
      ]
    : [
        {
          definition: plain(queueSize),
          title: `matches of ${queueSize}`,
          share: 1,
          parties: few.map((size) => Math.min(size, queueSize)),
        },
      ]
