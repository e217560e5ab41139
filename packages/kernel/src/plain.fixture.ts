import type { Checks, Entry, Model } from './data/model.js'

/** The rules of a queue for one team of `size` players, who may be any, except for `more`. */
export function modelOf(size: number, more: Partial<Model<string>> = {}): Model<string> {
  const { levels = Float64Array.of(0) } = more
  return {
    levels,
    lastResortLevel: Infinity,
    teams: [{ name: 'team', max: size, min: new Uint16Array(levels.length).fill(size) }],
    fillForMs: 0,
    radius: undefined,
    spans: [],
    checks: undefined,
    ...more,
  }
}

/** A difference rule with a limit for each level. */
export const spanOf = (...limit: readonly number[]) => ({ by: 'each', limit: Float64Array.from(limit) }) as const

export const noChecks: Checks<string> = { pair: undefined, part: undefined, whole: undefined, unevenness: undefined }

/** The ticket of a single player, without values and place, except for `more`. */
export const entryOf = (id: string, more: Partial<Entry<string>> = {}): Entry<string> => ({
  id,
  size: 1,
  since: 0,
  priority: 0,
  key: '',
  place: undefined,
  network: undefined,
  values: [],
  facts: '',
  ...more,
})
