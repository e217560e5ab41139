// pure: why tickets were refused
import type { Crowd } from '../crowd/crowd.js'
import type { RunOutcome } from '../run/outcome.js'

/** Why queues refused tickets, and how many players that kept out. */
export interface Refusal {
  /** In words, e.g. `players: a party of 3 is too big: a team takes at most 2`. */
  readonly why: string
  /** Share of all players in tickets, from 0 to 1. */
  readonly share: number
}

/** Reasons that are told by themselves, and what the others are called together. */
const TOLD = 5
const OTHERS = 'for other reasons'
const LONGEST = 300

/** The reasons by which most players were refused, the commonest first. */
export function refusalsOf({ parties }: Crowd, { tickets }: RunOutcome): Refusal[] {
  const refused = new Map<string, number>()
  let players = 0
  for (const { party, refusal } of tickets) {
    const size = parties[party]?.players.length ?? 0
    players += size
    if (refusal === undefined) continue
    const why = reasonIn(refusal)
    refused.set(why, (refused.get(why) ?? 0) + size)
  }
  const all = Array.from(refused, ([why, count]) => ({ why, share: count / players }))
  const ranked = all.toSorted((a, b) => b.share - a.share || (a.why < b.why ? -1 : 1))
  const others = ranked.slice(TOLD).reduce((sum, { share }) => sum + share, 0)
  return [...ranked.slice(0, TOLD), ...(others > 0 ? [{ why: OTHERS, share: others }] : [])]
}

/** The reason without what differs from one ticket to the next: which player it was, and what that player has. */
const reasonIn = (refusal: string): string =>
  refusal
    .replace(/^ticket: /, '')
    .replace(/\bplayers\.\d+/, 'players')
    .replace(/, got .*$/s, '')
    .slice(0, LONGEST)
