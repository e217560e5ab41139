// pure: the teams of a match, in words
import type { TeamDefinition } from '../rules/definition.js'
import { loosest, strictest } from '../rules/relaxing.js'
import { limitWords } from './limit-words.js'
import { counted, digits, inWords, listed } from './words.js'

/** Whether a match may have fewer players than there is room for. */
export const mayBeSmaller = ({ size }: TeamDefinition): boolean =>
  typeof size !== 'number' && loosest(size.min) < size.max

/** `two teams of five players`, or what a match of several kinds of teams has. */
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

/** `five players`, `three to five players`, `up to five players`. */
function playersOf({ size }: TeamDefinition): string {
  if (typeof size === 'number') return counted(size, 'player')
  const { min, max } = size
  if (strictest(min) !== loosest(min)) return `up to ${counted(max, 'player')}`
  const least = Math.ceil(loosest(min))
  if (least === max) return counted(max, 'player')
  return max > 12 ? `${digits(least)} to ${digits(max)} players` : `${inWords(least)} to ${counted(max, 'player')}`
}

/** How a relaxing minimum falls. */
function leastClause({ name, count = 1, size }: TeamDefinition, isOnly: boolean): string | undefined {
  if (typeof size === 'number' || strictest(size.min) === loosest(size.min)) return undefined
  const whose = isOnly ? (count === 1 ? 'it' : 'each team') : count === 1 ? `team ${name}` : `each team ${name}`
  const words = { lead: 'at least', first: (least: number) => counted(least, 'player'), show: inWords, free: '' }
  return `${whose} has ${limitWords(size.min, words)}`
}
