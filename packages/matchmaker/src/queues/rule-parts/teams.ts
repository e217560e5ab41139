import { validate } from '@muster/core/internal'
import { ShownName } from '@muster/hosting/internal'
import { z } from 'zod'
import { counted, digits, inWords, limitWords, listed } from './english.js'
import type { QueueLevels } from './levels.js'
import { limitAt, loosest, type RelaxingLimit, strictest } from './relaxing.js'
import type { NamedTeam } from './rule-types.js'
import { jsonOf, relaxing } from './rule-field-schemas.js'

/** One or more teams of one kind. */
export interface TeamDefinition {
  /** Name of the team, e.g. `hunters`. If `count` is above 1, the teams are called `name-1`, `name-2` … in a match. */
  readonly name: string
  /** Number of teams of this kind. Default 1. */
  readonly count?: number | undefined
  /** Number of players in the team: an exact number, or a range. `min` may fall as the match's oldest ticket waits. */
  readonly size: number | { readonly min: RelaxingLimit; readonly max: number }
}

/** Maximum number of players in a match (our choice). */
export const LARGEST_MATCH = 500

const playersSchema = z.int().min(1).max(LARGEST_MATCH)

const leastSchema = z.int().min(0).max(LARGEST_MATCH)
const sizeSchema = z.strictObject({ min: relaxing(leastSchema, 'falls'), max: playersSchema })

/** The schema of a kind of team, with the default of its count. */
export const teamSchema: z.ZodType<TeamDefinition> = z.strictObject({
  name: ShownName,
  count: playersSchema.default(1),
  size: z
    .custom<TeamDefinition['size']>()
    .superRefine((given, context) => {
      const schema: z.ZodType = typeof given === 'object' ? sizeSchema : playersSchema
      const { fault } = validate(schema, given)
      if (fault !== undefined) context.addIssue({ code: 'custom', path: [...fault.path], message: fault.wrong })
    })
    .meta({
      get anyOf() {
        return [playersSchema, sizeSchema].map(jsonOf)
      },
    }),
})

/** Returns the names of the teams of one kind in a match. */
export const namesOf = ({ name, count = 1 }: TeamDefinition): string[] =>
  count === 1 ? [name] : Array.from({ length: count }, (_, index) => `${name}-${index + 1}`)

/**
 * Returns every team of a match, in the order of the definitions. Relaxed minimum sizes are rounded up to whole
 * players.
 */
export const teamShapes = (teams: readonly TeamDefinition[], levels: QueueLevels): NamedTeam[] =>
  teams.flatMap((team) => {
    const { min: least, max } = typeof team.size === 'number' ? { min: team.size, max: team.size } : team.size
    const minAt = (ms: number, level: number) =>
      level === levels.lastResort ? loosest(least) : limitAt(least, ms, levels)
    const min = Uint16Array.from(levels.at, (ms, level) => Math.ceil(minAt(ms, level)))
    return namesOf(team).map((name) => ({ name, kind: team.name, max, min }))
  })

/** True if a match may have fewer players than places. */
export const mayBeSmaller = ({ size }: TeamDefinition): boolean =>
  typeof size !== 'number' && loosest(size.min) < size.max

/** Describes the teams, e.g. `two teams of five players`. */
export function teamClauses(teams: readonly TeamDefinition[]): string[] {
  const [only] = teams
  const least = teams.flatMap((team) => leastClause(team, teams.length === 1) ?? [])
  if (only !== undefined && teams.length === 1) {
    const { count = 1 } = only
    return [count === 1 ? `a match has ${playersOf(only)}` : `${inWords(count)} teams of ${playersOf(only)}`, ...least]
  }
  const kinds = teams.map((team) => `${counted(team.count ?? 1, 'team')} ${team.name} of ${playersOf(team)}`)
  return [`a match has ${listed(kinds)}`, ...least]
}

/** Describes the size of a team, e.g. `five players`, `three to five players` or `up to five players`. */
function playersOf({ size }: TeamDefinition): string {
  if (typeof size === 'number') return counted(size, 'player')
  const { min, max } = size
  if (strictest(min) !== loosest(min)) return `up to ${counted(max, 'player')}`
  const least = Math.ceil(loosest(min))
  if (least === max) return counted(max, 'player')
  return max > 12 ? `${digits(least)} to ${digits(max)} players` : `${inWords(least)} to ${counted(max, 'player')}`
}

/** Returns the clause about a relaxing minimum; undefined if the minimum does not relax. */
function leastClause({ name, count = 1, size }: TeamDefinition, isOnly: boolean): string | undefined {
  if (typeof size === 'number' || strictest(size.min) === loosest(size.min)) return undefined
  const whose = isOnly ? (count === 1 ? 'it' : 'each team') : count === 1 ? `team ${name}` : `each team ${name}`
  const words = { lead: 'at least', first: (least: number) => counted(least, 'player'), show: inWords, free: '' }
  return `${whose} has ${limitWords(size.min, words)}`
}
