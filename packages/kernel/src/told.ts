// pure: what is told of one ticket of a pool
import { SINCE, type Columns } from './columns.js'
import { levelAt } from './level-at.js'
import type { Levels } from './levels.js'
import type { Model, Pool } from './model.js'

export interface ToldInput<Facts> {
  readonly model: Pick<Model<Facts>, 'adaptive' | 'levels'>
  readonly columns: Columns
  readonly levels: Levels
  readonly facts: readonly (Facts | undefined)[]
}

export function createTold<Facts>({
  model,
  columns,
  levels,
  facts,
}: ToldInput<Facts>): Pick<Pool<Facts>, 'entryOf' | 'levelOf' | 'aheadOf'> {
  return {
    entryOf: (slot) => ({
      id: columns.ids[slot] as string,
      size: columns.size[slot] as number,
      since: columns.rows[slot * columns.stride + SINCE] as number,
      place: columns.placeOf(slot),
      values: columns.valuesOf(slot),
      facts: facts[slot] as Facts,
    }),
    levelOf: (slot, now) => {
      if (model.adaptive !== true)
        return levelAt(model.levels, now - (columns.rows[slot * columns.stride + SINCE] as number))
      levels.renew(now)
      return levels.of(slot)
    },
    aheadOf: (slot, now) => {
      if (model.adaptive !== true) return 0
      levels.renew(now)
      return levels.aheadOf(slot)
    },
  }
}
