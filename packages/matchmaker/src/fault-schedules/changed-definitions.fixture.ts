import type { Random } from '@muster/core/clock'
import type { PoolDefinition } from '@muster/hosting'
import { oneOf } from '@muster/hosting/schedules-fixture'
import type { QueueDefinition } from '../queues/index.js'

interface Definitions {
  readonly queues: readonly QueueDefinition[]
  readonly pools: readonly PoolDefinition[]
}

export const EXPIRE_MS = 20_000
const game = { application: 'game', version: '1', readyTimeoutMs: 30_000, probe: { kind: 'registration' } } as const
const duel = { name: 'duel', matchSize: 2, pool: 'arena', expireAfterMs: EXPIRE_MS }
const own = { name: 'own', matchSize: 2, deploy: game, expireAfterMs: EXPIRE_MS }

export const definitionsWith = (pool: PoolDefinition): Definitions => ({ queues: [duel, own], pools: [pool] })

const pooled = { name: 'own', matchSize: 2, pool: 'arena', expireAfterMs: EXPIRE_MS }
const unpooled = { name: 'duel', matchSize: 2, deploy: game, expireAfterMs: EXPIRE_MS }
const elsewhere = { ...duel, pool: 'other' }
const teams = [
  { name: 'red', size: 1 },
  { name: 'blue', size: 1 },
]
const sides = [
  { name: 'duel', teams, pool: 'arena', expireAfterMs: EXPIRE_MS },
  { name: 'own', teams, deploy: game, expireAfterMs: EXPIRE_MS },
]

/** Returns a configuration that lacks, renames, moves or changes a queue or the pool. */
export function changedDefinitions(pool: PoolDefinition, random: Random): Definitions {
  const other = { ...pool, name: 'other' }
  return oneOf<Definitions>(
    random,
    definitionsWith(pool),
    { queues: [own], pools: [pool] },
    { queues: [duel], pools: [pool] },
    { queues: [own], pools: [] },
    { queues: [unpooled, own], pools: [pool] },
    { queues: [unpooled, own], pools: [] },
    { queues: [duel, pooled], pools: [pool] },
    { queues: [elsewhere, own], pools: [other] },
    { queues: [elsewhere, own], pools: [pool, other] },
    {
      queues: [
        { ...duel, matchSize: 4 },
        { ...own, matchSize: 3 },
      ],
      pools: [pool],
    },
    { queues: sides, pools: [pool] },
    {
      queues: [
        { ...duel, name: 'duel2' },
        { ...own, name: 'own2' },
      ],
      pools: [pool],
    },
    { queues: [{ ...duel, acceptance: { withinMs: 5000 } }, own], pools: [pool] },
  )
}
