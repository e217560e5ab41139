import type { Random } from '@muster/core/clock'
import { browserSchema } from '../browser/browser-definition.js'
import { poolSchema, type Pool } from '../pools/pool-definition.js'
import { deploySchema } from '../records/index.js'
import { chance, oneOf } from './random-faults.fixture.js'
import type { TestQueue } from './tickets.fixture.js'

export const MAX_MS = 45_000
export const EXTERNAL = 'yard'
export const ENROLMENT_KEY = 'a key of at least thirty-two characters'.replaceAll(' ', '-')
export const BROWSER = browserSchema.parse({})

const game = { application: 'game', version: '1', readyTimeoutMs: 30_000 }
const deploy = deploySchema.parse({ ...game, maxDurationMs: MAX_MS, probe: { kind: 'registration' } })
const OSLO = { name: 'Oslo', latitude: 59.9, longitude: 10.7 }
const BERGEN = { name: 'Bergen', latitude: 60.4, longitude: 5.3 }

const arenas = [1, 3, 20].flatMap((maxMatches) =>
  [[OSLO], [OSLO, BERGEN]].map((places, nth) =>
    poolSchema.parse({
      name: 'arena',
      deploy: game,
      places,
      reuse: { maxMatches },
      keepIdleSeconds: 10,
      warm: { hit: 0, max: 2 },
      ...(nth === 0 && { at: [{ cron: '* * * * *', minutes: 2, min: 1 }] }),
    }),
  ),
)
const yards = [1, 5].map((maxMatches) =>
  poolSchema.parse({
    name: 'yard',
    source: EXTERNAL,
    deploy: game,
    places: [OSLO],
    reuse: { maxMatches },
    keepIdleSeconds: 10,
  }),
)
/** Pools whose servers enrol themselves. Muster also creates servers of the second pool. */
const metals = [undefined, game].map((ofPool) =>
  poolSchema.parse({
    name: 'metal',
    ...(ofPool && { deploy: ofPool }),
    places: [OSLO],
    enrol: [{ key: ENROLMENT_KEY, place: 'Oslo', max: 2, matches: 2, hosts: ['203.0.113.0/24'], builds: ['1'] }],
    reuse: { maxMatches: 20 },
    keepIdleSeconds: 10,
  }),
)

export interface Definitions {
  readonly pools: readonly Pool[]
  readonly queues: readonly TestQueue[]
}

const choices = { arena: arenas, yard: yards, metal: metals }

function definitionsOf(pools: readonly Pool[]): Definitions {
  const names = new Set(pools.map(({ name }) => name))
  const queue = (name: string): TestQueue => ({ name, deploy, pool: names.has(name) ? name : undefined })
  return { pools, queues: ['own', ...Object.keys(choices)].map(queue) }
}

export const drawDefinitions = (random: Random): Definitions =>
  definitionsOf(Object.values(choices).map((pools) => oneOf(random, ...pools)))

/** Changes, removes or restores a pool. If a queue's pool was removed, each match of the queue gets its own server. */
export function changedDefinitions({ pools }: Definitions, random: Random): Definitions {
  const changed = oneOf(random, ...Object.values(choices))
  const rest = pools.filter(({ name }) => name !== changed[0]?.name)
  return definitionsOf(chance(random, 0.4) ? rest : [...rest, oneOf(random, ...changed)])
}
