// pure: an explanation in words
import type { Explanation, NearMiss, NextRelaxation } from './explanation.js'

/** Why a ticket waits in a queue that is paused. */
export const PAUSED = 'The queue is paused.'

const quoted = (name: string) => JSON.stringify(name)
const rounded = (value: number) => String(Math.round(value * 10) / 10)
const count = (many: number, one: string) => `${many} ${one}${many === 1 ? '' : 's'}`

/** @param together names of the rules about whole matches. */
export function summaryOf(why: Omit<Explanation, 'summary' | 'queue'>, together: readonly string[]): string {
  return `${obstacleOf(why, together)}.${targetSentence(why)}${relaxationSentence(why.next)}`
}

/** Says what limits follow, after a space; empty where they relax as the definition says. */
function targetSentence({ targetWaitMs, aheadMs = 0 }: Pick<Explanation, 'targetWaitMs' | 'aheadMs'>): string {
  if (targetWaitMs === undefined) return ''
  const aim = ` Limits follow how many players come, for waits of ${rounded(targetWaitMs / 1000)} s`
  if (aheadMs <= 0) return `${aim}: enough come for it to begin with the strictest.`
  return `${aim}: its own are as loose as after ${rounded(aheadMs / 1000)} s more.`
}

function obstacleOf(why: Omit<Explanation, 'summary' | 'queue'>, together: readonly string[]): string {
  const { waiting, others, compatible, blocking, nearest, lacks, rules } = why
  if (waiting === 0) return 'Nobody else waits'
  if (others === 0 && blocking !== undefined) return `Nobody else waits who has the same for rule ${quoted(blocking)}`
  if (others === 0) return `None of ${count(waiting, 'other ticket')} comes near it`
  if (lacks > 0) {
    const players = `${count(lacks, 'more player')} ${lacks === 1 ? 'is' : 'are'} needed`
    if (blocking === undefined) return `${count(compatible, 'other ticket')} could be in its match; ${players}`
    const lets = rules.find(({ rule }) => rule === blocking)?.lets ?? compatible
    const through = `lets through ${lets} of ${count(others, 'other ticket')}`
    return `Rule ${quoted(blocking)} ${through}, and ${players}${missOf(nearest)}`
  }
  if (blocking !== undefined) return `Enough others wait, but not the players whom rule ${quoted(blocking)} needs`
  if (together.length > 0)
    return `Enough others wait, but perhaps not such as go together by ${together.map(quoted).join(', ')}`
  return 'Enough others wait for a match'
}

function missOf(nearest: NearMiss | undefined): string {
  if (nearest === undefined) return ''
  const inUnit = (value: number) => (nearest.unit === undefined ? rounded(value) : `${rounded(value)} ${nearest.unit}`)
  const allowed = `rule ${quoted(nearest.rule)} allows ${inUnit(nearest.limit)}`
  return `; the nearest miss is ${inUnit(nearest.value)} where ${allowed}`
}

/** Says what relaxes next, after a space; empty if nothing does. The sentence tells nothing about other players. */
export function relaxationSentence(next: NextRelaxation | undefined): string {
  if (next === undefined) return ''
  const rules = [...new Set(next.changes.flatMap(({ rule }) => (rule === undefined ? [] : [quoted(rule)])))]
  const what = [
    ...(rules.length === 0
      ? []
      : [rules.length === 1 ? `rule ${rules[0]} gives way` : `rules ${listed(rules)} give way`]),
    ...next.changes.flatMap(({ rule, to = 0 }) =>
      rule === undefined ? [`${count(to, 'player')} ${to === 1 ? 'is' : 'are'} enough`] : [],
    ),
  ]
  return ` In ${rounded(next.inMs / 1000)} s ${what.join(' and ')}.`
}

const listed = (names: readonly string[]) => `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
