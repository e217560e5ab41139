// pure: who pays for the rules
import type { RunOutcome, TicketOutcome } from '../run/index.js'
import { rounded } from '../statistics/index.js'
import type { Fairness, GroupFairness } from './figures.js'
import type { Groups, Seats } from './seats.js'

/** The share of players who are called the worst served. */
const WORST = 0.05

/** Ends of those who wanted a match, and found none. */
const UNSERVED: ReadonlySet<TicketOutcome['end']> = new Set(['gaveUp', 'expired', 'attempts', 'refused'])

export function fairnessOf(seats: Seats, { tickets }: RunOutcome): Fairness {
  /** The wait of those who count; Infinity for those who found no match. */
  const waits = new Map<number, number>()
  for (const [seat, wait] of seats.measures.waitMs.entries()) {
    const end = tickets[seats.ticket[seat] as number]?.end ?? 'waiting'
    if (UNSERVED.has(end)) waits.set(seat, Infinity)
    else if (!Number.isNaN(wait)) waits.set(seat, wait)
  }
  const { from, partOf } = worstOf(Float64Array.from(waits.values()))
  const by = (groups: Groups) => groupFairness(groups, waits, partOf)
  const { region, partySize, skillBand } = seats.groups
  return {
    share: WORST,
    fromMs: from === Infinity ? null : from,
    by: { region: by(region), partySize: by(partySize), skillBand: by(skillBand) },
  }
}

interface Worst {
  /** The shortest wait among the worst served. */
  readonly from: number
  /**
   * How much of a player with a wait is among the worst served, from 0 to 1: of many who waited equally long at the
   * edge, each is in part, so that none is chosen by chance.
   */
  partOf(wait: number): number
}

function worstOf(waits: Float64Array): Worst {
  if (waits.length === 0) return { from: 0, partOf: () => 0 }
  waits.sort()
  const most = WORST * waits.length
  const from = waits[waits.length - Math.ceil(most)] as number
  const [begin, end] = [waits.indexOf(from), waits.lastIndexOf(from) + 1]
  const part = (most - (waits.length - end)) / (end - begin)
  return { from, partOf: (wait) => (wait === from ? part : Number(wait > from)) }
}

function groupFairness(
  { names, of }: Groups,
  waits: ReadonlyMap<number, number>,
  partOf: (wait: number) => number,
): GroupFairness {
  const [all, worst] = [new Float64Array(names.length), new Float64Array(names.length)]
  for (const [seat, wait] of waits) {
    const group = of[seat] as number
    if (group < 0) continue
    all[group] = (all[group] as number) + 1
    worst[group] = (worst[group] as number) + partOf(wait)
  }
  const [allSum, worstSum] = [sum(all) || 1, sum(worst) || 1]
  const shares = names.flatMap((name, group) =>
    all[group] === 0
      ? []
      : [{ name, ofAll: (all[group] as number) / allSum, ofWorst: (worst[group] as number) / worstSum }],
  )
  return {
    uneven: rounded(
      shares.reduce((total, { ofAll, ofWorst }) => total + Math.max(0, ofWorst - ofAll), 0),
      6,
    ),
    groups: Object.fromEntries(
      shares.map(({ name, ofAll, ofWorst }) => [name, { ofAll: rounded(ofAll, 6), ofWorst: rounded(ofWorst, 6) }]),
    ),
  }
}

const sum = (values: Float64Array) => values.reduce((total, value) => total + value, 0)
