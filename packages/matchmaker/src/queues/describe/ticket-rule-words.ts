// pure: the rules about single tickets or pairs of tickets, in words
import {
  PARTY_SIZE,
  type AcceptsRule,
  type Comparison,
  type DifferenceRule,
  type DifferentRule,
  type DistanceRule,
  type EqualRule,
  type LatencyRule,
  type OverlapRule,
  type RequireRule,
} from '../rules/definition.js'
import { relaxingOf } from '../rules/levels.js'
import { attributeWords, comparedWith, comparisonWords, missingWords } from './comparison-words.js'
import { limitWords } from './limit-words.js'
import { counted, digits, inWords, listed, valueWords } from './words.js'

const km = (limit: number) => `${digits(limit)} km`
const ms = (limit: number) => `${digits(limit)} ms`

export function distanceWords({ maxKm, missing = 'network' }: DistanceRule): string {
  const unknown = {
    network: 'players whose place is unknown meet only players of the same network',
    refuse: 'players whose place is unknown are not taken',
    any: 'players whose place is unknown meet anyone',
  }
  return `players meet ${limitWords(maxKm, { lead: 'within', show: km, free: 'anywhere' })}; ${unknown[missing]}`
}

export function latencyWords({ maxMs, maxDifferenceMs, missing }: LatencyRule): string {
  const most = { lead: 'a round trip of at most', show: ms, free: 'any', freeAtFirst: 'a round trip of any length' }
  const apart = {
    lead: 'round trips that differ by at most',
    show: ms,
    free: 'any time',
    freeAtFirst: 'any round trips',
  }
  const wanted = [
    ...(maxMs === undefined ? [] : [limitWords(maxMs, most)]),
    ...(maxDifferenceMs === undefined ? [] : [limitWords(maxDifferenceMs, apart)]),
  ]
  const unmeasured = missing === 'any' ? '; players who have measured none are free of it' : ''
  return `all players have a beacon in common with ${wanted.join(', and with ')}${unmeasured}`
}

const SIZE = "every party's size"
const WHOSE = { avg: "party's average", min: "party's lowest", max: "party's highest", each: "player's" }

const DIFFERING = {
  avg: '',
  min: '; a party counts by its lowest',
  max: '; a party counts by its highest',
  each: '; every player of a party counts',
}

export function differenceWords({ attribute, max, party = 'avg', missing }: DifferenceRule): string {
  const most = limitWords(max, { lead: 'at most', free: 'any amount' })
  const how = attribute === PARTY_SIZE ? '' : DIFFERING[party]
  return `players differ in ${attributeWords(attribute)} by ${most}${how}${missingWords(attribute, missing)}`
}

export function equalWords({ attribute, scope = 'match', missing }: EqualRule): string {
  const who = scope === 'match' ? 'all players' : 'all players of a team'
  return `${who} have the same ${attributeWords(attribute)}${missingWords(attribute, missing)}`
}

export function differentWords({ attribute, scope = 'match', missing }: DifferentRule): string {
  const who = scope === 'match' ? 'no two players' : 'no two players of a team'
  return `${who} have the same ${attributeWords(attribute)}${missingWords(attribute, missing)}`
}

export function overlapWords({ attribute, atLeast = 1, party, missing }: OverlapRule): string {
  const entries = (least: number) => `${counted(least, 'entry', 'entries')} of ${attribute}`
  const least = limitWords(atLeast, { lead: 'at least', first: entries, show: inWords, free: '' })
  const how = party === 'union' ? '; a party has what any of its players lists' : ''
  return `all players share ${least}${how}${missingWords(attribute, missing)}`
}

export function requireWords({ attribute, operator, value, party = 'each', missing }: RequireRule): string {
  const unless = missingWords(attribute, missing)
  if (operator === 'contains') return `every player has ${valueWords(value)} in ${attribute}${unless}`
  if (operator === 'excludes') return `no player has ${valueWords(value)} in ${attribute}${unless}`
  const what = attribute === PARTY_SIZE ? SIZE : `every ${WHOSE[party]} ${attribute}`
  if (operator === 'in') return `${what} is ${listed((value as readonly string[]).map(valueWords), 'or')}${unless}`
  if (operator === 'not in') return `${what} is none of ${valueWords(value)}${unless}`
  const limit = relaxingOf(value)
  if (limit !== undefined && operator !== '=' && operator !== '!=')
    return `${what} is ${comparedWith(operator, limit)}${unless}`
  return `${what} is ${operator === '=' ? '' : 'not '}${valueWords(value)}${unless}`
}

export function acceptsWords({ attribute, operator, own, missing }: AcceptsRule): string {
  const others = 'of each player of another party'
  const unless = `; players without ${own} accept everyone${missingWords(attribute, missing)}`
  if (operator === 'contains') return `every player has the ${own} ${others} in ${attribute}${unless}`
  if (operator === 'excludes') return `no player has the ${own} ${others} in ${attribute}${unless}`
  const what = attribute === PARTY_SIZE ? SIZE : `every player's ${attribute}`
  if (operator === 'in') return `${what} is one of the ${own} ${others}${unless}`
  if (operator === 'not in') return `${what} is none of the ${own} ${others}${unless}`
  const words: Partial<Record<Comparison, string>> = { '=': '', '!=': 'not ' }
  return `${what} is ${words[operator] ?? `${comparisonWords(operator)} `}the ${own} ${others}${unless}`
}
