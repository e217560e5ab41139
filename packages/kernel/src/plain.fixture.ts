import type { Checks, Entry, Model } from './data/model.js'

/** Returns the rules of a queue with one team of `size` players and no limits. `more` replaces some of the rules. */
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

/** Returns a difference rule with a limit for each level. */
export const spanOf = (...limit: readonly number[]) => ({ by: 'each', limit: Float64Array.from(limit) }) as const

export const noChecks: Checks<string> = { pair: undefined, part: undefined, whole: undefined, unevenness: undefined }

/** Returns the ticket of a single player without values and location. `more` replaces some of its fields. */
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
