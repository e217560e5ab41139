import type { Unit } from '../compare/index.js'
import type { LabResult, PoolFigures, Variant } from '../figures/index.js'
import type { Html } from './page.js'
import { key, table, textRow } from './parts.js'
import { overSeedsTexts, type VariantSeries } from './series.js'

/** The figures of a pool, in display order. */
const ROWS: readonly (readonly [label: string, unit: Unit, of: (pool: PoolFigures) => number | undefined])[] = [
  ['matches', 'count', ({ matches }) => matches],
  ['found a warm server', 'share', ({ matches, warm }) => (matches === 0 ? undefined : warm)],
  ['to play, half within', 'ms', ({ toPlayMs }) => (toPlayMs.count === 0 ? undefined : toPlayMs.p50)],
  ['to play, 95 % within', 'ms', ({ toPlayMs }) => (toPlayMs.count === 0 ? undefined : toPlayMs.p95)],
  ['creates for each match', 'skill', ({ created, matches }) => (matches === 0 ? undefined : created / matches)],
  ['server hours', 'hours', ({ hours }) => hours],
  ['of these playing', 'hours', ({ playingHours }) => playingHours],
  ['of these idle', 'hours', ({ idleHours }) => idleHours],
  ['of these booting', 'hours', ({ bootHours }) => bootHours],
  ['cost', 'money', ({ cost }) => cost],
]

/**
 * Returns the pools of all variants with their figures. Each figure has one text for each variant, the mean over the
 * seeds. The text is `–` for a variant without the pool.
 */
export function poolTexts(variants: readonly Variant[]) {
  const names = new Set(variants.flatMap(({ runs }) => runs.flatMap(({ figures }) => Object.keys(figures.pools))))
  return Array.from(names, (pool) => ({
    pool,
    rows: ROWS.flatMap(([label, unit, of]) => {
      const texts = overSeedsTexts(variants, unit, ({ pools }) => {
        const own = Object.hasOwn(pools, pool) ? pools[pool] : undefined
        return own && of(own)
      })
      return texts === undefined ? [] : [[label, texts] as const]
    }),
  }))
}

/** Returns a table for each pool. */
export const poolTables = ({ variants }: LabResult, series: readonly VariantSeries[]): Html[] =>
  poolTexts(variants).map(({ pool, rows }) =>
    table({
      caption: `Pool ${pool}`,
      note: 'Means over the seeds. To play: from the ticket until its server is assigned, the boot included.',
      head: ['figure', ...series.map(key)],
      rows: rows.map(([label, texts]) => textRow(label, texts)),
      wide: false,
    }),
  )
