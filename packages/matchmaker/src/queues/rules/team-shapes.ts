// pure: the teams of a queue, one by one
import type { TeamShape } from '../../kernel/model.js'
import type { TeamDefinition } from './definition.js'
import type { Levels } from './levels.js'
import { limitAt, loosest } from './relaxing.js'

/** Players in a match at most (our choice). */
export const LARGEST_MATCH = 500

/** A team of a match. */
export interface NamedTeam extends TeamShape {
  /** The name of its definition, by which rules speak of it. */
  readonly kind: string
}

/** What the teams of one kind are called. */
export const namesOf = ({ name, count = 1 }: TeamDefinition): string[] =>
  count === 1 ? [name] : Array.from({ length: count }, (_, index) => `${name}-${index + 1}`)

/** Every team of a match, in the order of their definitions. Part of a player is a player: minima are rounded up. */
export const teamShapes = (teams: readonly TeamDefinition[], levels: Levels): NamedTeam[] =>
  teams.flatMap((team) => {
    const { min: least, max } = typeof team.size === 'number' ? { min: team.size, max: team.size } : team.size
    const minAt = (ms: number, level: number) =>
      level === levels.lastResort ? loosest(least) : limitAt(least, ms, levels.steps)
    const min = Uint16Array.from(levels.at, (ms, level) => Math.ceil(minAt(ms, level)))
    return namesOf(team).map((name) => ({ name, kind: team.name, max, min }))
  })
