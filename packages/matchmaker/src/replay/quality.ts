// pure: how well the players of matches suit each other
import { greatCircleKm, middleOf } from '@muster/core'
import type { Player } from '@muster/servers'
import { groupBy, type Percentiles, percentilesOf } from './percentiles.js'

/** Quality over all matches; only players whose place or attribute is known count. */
export interface MatchQuality {
  /** Kilometres from each player to the middle of the match. */
  readonly distanceKm: Percentiles
  /** For each number attribute, the highest value in a match minus the lowest. */
  readonly difference: Readonly<Record<string, Percentiles>>
  /** For each number attribute, the highest average of a team minus the lowest, in matches with several teams. */
  readonly imbalance: Readonly<Record<string, Percentiles>>
}

export interface MatchedTicket {
  readonly team: string | undefined
  readonly players: readonly Player[]
}

type Match = readonly MatchedTicket[]

export const qualityOf = (matches: readonly Match[]): MatchQuality => ({
  distanceKm: percentilesOf(matches.flatMap(distancesOf)),
  difference: percentilesBy(matches.flatMap(differencesOf)),
  imbalance: percentilesBy(matches.flatMap(imbalancesOf)),
})

/** The value of an attribute. */
type Measure = readonly [attribute: string, value: number]

function distancesOf(match: Match): number[] {
  const places = match.flatMap(({ players }) => players.flatMap(({ coordinates }) => coordinates ?? []))
  const middle = middleOf(places)
  return middle === undefined ? [] : places.map((place) => greatCircleKm(place, middle))
}

const differencesOf = (match: Match): Measure[] => spreads(numbersOf(match))

function imbalancesOf(match: Match): Measure[] {
  const teams = [...groupBy(match, ({ team }) => team).values()]
  return spreads(
    teams.flatMap((team) => averages(numbersOf(team))),
    2,
  )
}

const numbersOf = (tickets: readonly MatchedTicket[]): Measure[] =>
  tickets
    .flatMap(({ players }) => players.flatMap(({ attributes = {} }) => Object.entries(attributes)))
    .flatMap(([attribute, value]): Measure[] => (typeof value === 'number' ? [[attribute, value]] : []))

/** The spread of each attribute that has at least `least` values. */
const spreads = (measures: readonly Measure[], least = 1): Measure[] =>
  byAttribute(measures).flatMap(([attribute, values]): Measure[] =>
    values.length < least ? [] : [[attribute, Math.max(...values) - Math.min(...values)]],
  )

const averages = (measures: readonly Measure[]): Measure[] =>
  byAttribute(measures).map(([attribute, values]) => [
    attribute,
    values.reduce((sum, value) => sum + value, 0) / values.length,
  ])

const percentilesBy = (measures: readonly Measure[]) =>
  Object.fromEntries(byAttribute(measures).map(([attribute, values]) => [attribute, percentilesOf(values)]))

const byAttribute = (measures: readonly Measure[]): [attribute: string, values: number[]][] =>
  Array.from(
    groupBy(measures, ([attribute]) => attribute),
    ([attribute, some]) => [attribute, some.map(([, value]) => value)],
  )
