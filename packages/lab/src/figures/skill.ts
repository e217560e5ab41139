// pure: the skill of players, and bands of it
import type { Crowd, CrowdPlayer } from '../crowd/crowd.js'
import type { SkillBand } from './figures.js'

/** The skill of a player: the true one, or what the attribute says. NaN if neither is known. */
export function skillOf({ truth, attributes }: CrowdPlayer, attribute: string): number {
  if (truth !== undefined) return truth
  const value = attributes?.[attribute]
  return typeof value === 'number' ? value : Number.NaN
}

/** Mean and standard deviation of skill: what a difference of skill means. */
export interface SkillScale {
  readonly mean: number
  readonly deviation: number
}

/** The skill of a crowd's players, each once: the known ones in ascending order. */
export function skillsOf({ parties }: Crowd, attribute: string): Float64Array {
  const skills = parties.flatMap(({ players }) => players.map((player) => skillOf(player, attribute)))
  return Float64Array.from(skills.filter((skill) => !Number.isNaN(skill))).toSorted()
}

export function scaleOf(skills: Float64Array): SkillScale {
  if (skills.length === 0) return { mean: 0, deviation: 1 }
  const mean = skills.reduce((sum, skill) => sum + skill, 0) / skills.length
  const variance = skills.reduce((sum, skill) => sum + (skill - mean) ** 2, 0) / skills.length
  return { mean, deviation: Math.sqrt(variance) || 1 }
}

/** Quantiles at which bands begin. The ends are narrow, since it is there that players are few (our choice). */
const QUANTILES = [0, 0.1, 0.25, 0.5, 0.75, 0.9, 1] as const

/** Bands by quantiles. Where many have the same skill, bands become one. */
export function bandsOf(ascending: Float64Array): SkillBand[] {
  const count = ascending.length
  if (count === 0) return []
  const begins = QUANTILES.slice(0, -1).map((quantile) => ascending[Math.floor(quantile * count)] as number)
  let begun = 0
  return begins.flatMap((from, index) => {
    const to = begins[index + 1] ?? null
    if (from === to) return []
    const name = nameOf(QUANTILES[begun] as number, QUANTILES[index + 1] as number)
    begun = index + 1
    return [{ name, from, to }]
  })
}

function nameOf(from: number, to: number): string {
  const [low, high] = [Math.round(from * 100), Math.round(to * 100)]
  if (low === 0) return high === 100 ? 'all' : `lowest ${high} %`
  return high === 100 ? `highest ${100 - low} %` : `${low}–${high} %`
}

/** Index of the band that a skill is in; −1 for an unknown skill. */
export const bandIndex = (bands: readonly SkillBand[], skill: number): number =>
  bands.findLastIndex(({ from }) => skill >= from)
