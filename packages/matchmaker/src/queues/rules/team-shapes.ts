// pure: the teams of a queue, one by one
import type { TeamShape } from '@muster/kernel'
import type { TeamDefinition } from './definition.js'
import type { Levels } from './levels.js'
import { limitAt, loosest } from './relaxing.js'

/** Most players in a match (our choice). */
export const LARGEST_MATCH = 500

/** A team of a match, with the name of its definition. */
export interface NamedTeam extends TeamShape {
  /** The name of its definition, by which rules refer to it. */
  readonly kind: string
}

/** The names of the teams of one kind in a match. */
export const namesOf = ({ name, count = 1 }: TeamDefinition): string[] =>
  count === 1 ? [name] : Array.from({ length: count }, (_, index) => `${name}-${index + 1}`)

/** Every team of a match, in the order of the definitions. Relaxed minimum sizes are rounded up to whole players. */
export const teamShapes = (teams: readonly TeamDefinition[], levels: Levels): NamedTeam[] =>
  teams.flatMap((team) => {
    const { min: least, max } = typeof team.size === 'number' ? { min: team.size, max: team.size } : team.size
    const minAt = (ms: number, level: number) =>
      level === levels.lastResort ? loosest(least) : limitAt(least, ms, levels)
    const min = Uint16Array.from(levels.at, (ms, level) => Math.ceil(minAt(ms, level)))
    return namesOf(team).map((name) => ({ name, kind: team.name, max, min }))
  })
