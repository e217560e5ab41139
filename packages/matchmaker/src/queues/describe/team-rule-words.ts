// pure: the rules about teams or about the whole match, in words
import type { BalanceRule, RatingValue } from '../rules/balance-definition.js'
import type { CompareRule, RolesRule } from '../rules/definition.js'
import { attributeWords, comparedWith, comparisonWords, missingWords } from './comparison-words.js'
import { limitWords } from './limit-words.js'
import { digits, inWords, listed } from './words.js'

const MADE = { avg: 'average', min: 'lowest', max: 'highest', sum: 'total' }

const teamOf = (team: string | undefined) => (team === undefined ? 'each team' : `team ${team}`)

export function compareWords(rule: CompareRule): string {
  const { scope, attribute, aggregate, team, operator, value, otherTeam, missing } = rule
  const what = aggregate === 'count' ? 'number of players' : `${MADE[aggregate]} ${attributeWords(attribute)}`
  const whose = scope === 'match' ? 'the match' : teamOf(team)
  const than = otherTeam === undefined ? comparedWith(operator, value ?? 0) : beside(operator, otherTeam)
  return `the ${what} of ${whose} is ${than}${missingWords(attribute, missing)}`
}

function beside(operator: CompareRule['operator'], team: string): string {
  if (operator === '=') return `that of team ${team}`
  return `${operator === '!=' ? 'not' : comparisonWords(operator)} that of team ${team}`
}

export function rolesWords({ roles, team }: RolesRule): string {
  const counts = Object.entries(roles).map(([role, count]) => {
    const { min, max } = typeof count === 'number' ? { min: count, max: undefined } : count
    return { role, min, max }
  })
  const whose = teamOf(team)
  const needed = counts.filter(({ min }) => min > 0)
  const bounded = counts.filter(({ max }) => max !== undefined)
  if (needed.length + bounded.length === 0) return `${whose} needs nobody for ${listed(Object.keys(roles))}`
  const seats = needed.map(({ role, min }, index) => `${inWords(min)}${index === 0 ? playing(min) : ''} for ${role}`)
  const most = bounded.map(({ role, max = 0 }) => `at most ${inWords(max)} who can play only ${role}`)
  const has = seats.length === 0 ? [] : [`${whose} has ${listed(seats)}, all different players`]
  return [...has, ...(most.length === 0 ? [] : [`${seats.length === 0 ? whose : 'it'} has ${listed(most)}`])].join('; ')
}

const playing = (count: number) => (count === 1 ? ' player' : ' players')

export function balanceWords(rule: BalanceRule): string {
  if (rule.measure === 'predictedWin') return predictedWinWords(rule)
  const { attribute, aggregate = 'avg', max, missing } = rule
  const most = limitWords(max, { lead: 'at most', free: 'any amount' })
  const what = `${MADE[aggregate]} ${attributeWords(attribute)}`
  return `the teams differ in ${what} by ${most}, and are made as even as can be${missingWords(attribute, missing)}`
}

const percent = (chance: number) => `${digits(chance * 100)} %`

function predictedWinWords({ mean, uncertainty, beta, max, missing }: BalanceRule): string {
  const lead = 'with a probability of at most'
  const most = limitWords(max, { lead, show: percent, free: 'any', freeAtFirst: 'with any probability' })
  const varies = beta === undefined ? '' : `, where performances vary by ${digits(beta)}`
  return (
    `of any two teams, the favourite is predicted to win ${most}, by ${mean} and its uncertainty ` +
    `${uncertainty}${varies}, and the teams are made as even as can be${unratedWords(missing)}`
  )
}

function unratedWords(missing: BalanceRule['missing']): string {
  if (typeof missing !== 'object') return ''
  const { mean, uncertainty } = missing.value as RatingValue
  return `; players without a rating count as ${digits(mean)} with an uncertainty of ${digits(uncertainty)}`
}
