// pure: an explanation in words
import type { Explanation, NearMiss, NextRelaxation } from './explanation.js'

const quoted = (name: string) => JSON.stringify(name)
const rounded = (value: number) => String(Math.round(value * 10) / 10)
const count = (many: number, one: string) => `${many} ${one}${many === 1 ? '' : 's'}`

/** @param waiting tickets in the queue besides this one. @param together names of the rules about whole matches. */
export function summaryOf(why: Omit<Explanation, 'summary' | 'queue'>, waiting: number, together: readonly string[]): string {
  return `${obstacleOf(why, waiting, together)}.${nextOf(why.next)}`
}

function obstacleOf(why: Omit<Explanation, 'summary' | 'queue'>, waiting: number, together: readonly string[]): string {
  const { others, compatible, blocking, nearest, lacks, rules } = why
  if (waiting === 0) return 'Nobody else waits'
  if (others === 0 && blocking !== undefined) return `Nobody else waits who has the same for rule ${quoted(blocking)}`
  if (others === 0) return `None of ${count(waiting, 'other ticket')} comes near it`
  if (lacks > 0) {
    const players = `${count(lacks, 'more player')} ${lacks === 1 ? 'is' : 'are'} needed`
    if (blocking === undefined) return `${count(compatible, 'other ticket')} could be in its match; ${players}`
    const lets = rules.find(({ rule }) => rule === blocking)?.lets ?? compatible
    return `Rule ${quoted(blocking)} lets through ${lets} of ${count(others, 'other ticket')}, and ${players}${missOf(nearest)}`
  }
  if (blocking !== undefined) return `Enough others wait, but not the players whom rule ${quoted(blocking)} needs`
  if (together.length > 0) return `Enough others wait, but perhaps not such as go together by ${together.map(quoted).join(', ')}`
  return 'Enough others wait for a match'
}

const missOf = (nearest: NearMiss | undefined): string =>
  nearest === undefined
    ? ''
    : `; the nearest miss is ${rounded(nearest.value)} where rule ${quoted(nearest.rule)} allows ${rounded(nearest.limit)}`

function nextOf(next: NextRelaxation | undefined): string {
  if (next === undefined) return ''
  const what = next.changes.map(({ rule, to }) =>
    rule === undefined ? `${count(to ?? 0, 'player')} ${to === 1 ? 'is' : 'are'} enough` : `rule ${quoted(rule)} gives way`,
  )
  return ` In ${rounded(next.inMs / 1000)} s ${[...new Set(what)].join(' and ')}.`
}
