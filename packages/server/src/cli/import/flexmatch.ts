import { type ImportedConfig, type Json, type Lost, ObjectReader, relaxing, type LimitStep } from './source-file.js'

// A rule set of Amazon GameLift FlexMatch (JSON, from its public documentation).

/** What a property expression yields: a number of players or teams, or the values of all players. */
interface PropertyExpression {
  readonly made: string
  /** Name of the team, or `*`. */
  readonly team: string
  /** Undefined if the expression counts players. */
  readonly attribute: string | undefined
}

const OF_TEAM = /^(avg|min|max|sum|count)\(teams\[(\*|[\w-]+)\]\.players(?:\.attributes\[(\w+)\])?\)$/
const OF_ALL = /^(?:(avg|min|max|sum)\()?flatten\(teams\[\*\]\.players\.attributes\[(\w+)\]\)\)?$/

function measuredBy(text: unknown): PropertyExpression | undefined {
  const [, made, team, attribute] = (typeof text === 'string' && OF_TEAM.exec(text)) || []
  if (made !== undefined && team !== undefined) return { made, team, attribute }
  const [all, aggregate = 'all', of] = (typeof text === 'string' && OF_ALL.exec(text)) || []
  return all === undefined ? undefined : { made: aggregate, team: 'all', attribute: of }
}

/** Returns the initial value of a property and its later values, one for each expansion. */
type StepsOf = (target: string, first: number | undefined) => readonly LimitStep[]

/** Imports a rule set of FlexMatch. @throws {UnfitSource} naming field and value */
export function importFlexMatch(source: unknown): ImportedConfig {
  const lost: Lost[] = []
  const file = new ObjectReader(source, '', lost)
  const name = file.text('name') ?? 'imported'
  file.any('ruleLanguageVersion')
  const defaults = new Map<string, unknown>()
  for (const attribute of file.objects('playerAttributes')) {
    attribute.any('type')
    defaults.set(attribute.needText('name'), attribute.any('default'))
    attribute.end()
  }
  const { stepsOf, unused } = expansionsOf(file)
  const teams = file.objects('teams').map((team) => teamOf(team, stepsOf))
  if (teams.length === 0) file.missing('teams', 'a list of teams')
  const rules: Json[] = []
  const states = new Set<string>()
  for (const rule of file.objects('rules')) {
    const translated = ruleOf(rule, stepsOf)
    if (translated === undefined) {
      const type = rule.text('type')
      rule.lose('', `the rule ${rule.text('name')} (${type}) has no counterpart of the same form: write it by hand`)
      continue
    }
    rule.end()
    const attribute = translated['attribute']
    if (typeof attribute === 'string') states.add(attribute)
    if (translated['kind'] === 'latency') states.add('latencies')
    const value = typeof attribute === 'string' ? defaults.get(attribute) : undefined
    rules.push(value === undefined ? translated : { ...translated, missing: { value } })
  }
  unused()
  file.end()
  file.lose('', 'has no application: write what your servers run into deploy')
  const deploy = { application: 'my-game', version: '1' }
  const isSmaller = teams.some(({ size }) => typeof size !== 'number')
  const queue = { name, teams, ...(isSmaller && { fillForMs: 0 }), rules, playerMayState: [...states], deploy }
  return { game: deploy.application, queues: [queue], sections: {}, lost }
}

function expansionsOf(file: ObjectReader) {
  const left = new Map<string, { readonly expansion: ObjectReader; readonly steps: readonly LimitStep[] }>()
  for (const expansion of file.objects('expansions')) {
    const steps = expansion.objects('steps').flatMap((step): LimitStep[] => {
      const [seconds, value] = [step.needNumber('waitTimeSeconds'), step.any('value')]
      return typeof value === 'number' ? [{ afterMs: seconds * 1000, value }] : []
    })
    left.set(expansion.needText('target'), { expansion, steps })
    expansion.end()
  }
  const stepsOf: StepsOf = (target, first) => {
    const { steps = [] } = left.get(target) ?? {}
    if (first === undefined) return []
    left.delete(target)
    return [{ afterMs: 0, value: first }, ...steps]
  }
  const unused = () => {
    for (const [target, { expansion }] of left) expansion.lose('', `expands ${target}, which is not translated`)
  }
  return { stepsOf, unused }
}

function teamOf(team: ObjectReader, stepsOf: StepsOf) {
  const name = team.needText('name')
  const [least, max] = [team.number('minPlayers') ?? team.needNumber('maxPlayers'), team.needNumber('maxPlayers')]
  const count = team.number('quantity') ?? 1
  const min = limitOf(team, stepsOf(`teams[${name}].minPlayers`, least), 'falls')
  team.end()
  return { name, count, size: min === max ? max : { min, max } }
}

const limitOf = (rule: ObjectReader, steps: readonly LimitStep[], direction: 'rises' | 'falls') =>
  relaxing(steps, direction, (message) => rule.lose('', message))

/** Returns the equivalent Muster rule; undefined if there is none. */
function ruleOf(rule: ObjectReader, stepsOf: StepsOf): Json | undefined {
  const name = rule.needText('name')
  rule.any('description')
  const limit = (field: string, direction: 'rises' | 'falls') =>
    limitOf(rule, stepsOf(`rules[${name}].${field}`, rule.number(field)), direction)
  const measured = rule.has('measurements') ? measuredBy(rule.texts('measurements')[0]) : undefined
  switch (rule.needText('type')) {
    case 'latency': {
      const [maxMs, maxDifferenceMs] = [limit('maxLatency', 'rises'), limit('maxDistance', 'rises')]
      if (maxMs === undefined && maxDifferenceMs === undefined) return undefined
      return {
        kind: 'latency',
        name,
        ...(maxMs !== undefined && { maxMs }),
        ...(maxDifferenceMs !== undefined && { maxDifferenceMs }),
      }
    }
    case 'distance': {
      rule.any('referenceValue')
      const max = limit('maxDistance', 'rises')
      if (measured?.attribute === undefined || max === undefined) return undefined
      rule.lose('', `measures from an average: ${name} here compares teams, or tickets, with one another`)
      const kind = measured.team === '*' ? 'balance' : 'difference'
      return { kind, name, attribute: measured.attribute, max }
    }
    case 'batchDistance': {
      const max = limit('maxDistance', 'rises')
      const party = rule.text('partyAggregation')
      const attribute = rule.needText('batchAttribute')
      if (max === undefined) return { kind: 'equal', name, attribute }
      return { kind: 'difference', name, attribute, max, ...(party !== undefined && { party }) }
    }
    case 'comparison':
      return comparisonOf(rule, name, measured)
    case 'collection': {
      if (measured?.attribute === undefined || rule.text('operation') !== 'intersection') return undefined
      return { kind: 'overlap', name, attribute: measured.attribute, atLeast: limit('minCount', 'falls') ?? 1 }
    }
    default:
      return undefined
  }
}

function comparisonOf(rule: ObjectReader, name: string, measured: PropertyExpression | undefined): Json | undefined {
  const [operator, reference] = [rule.needText('operation'), rule.any('referenceValue')]
  if (measured === undefined) return undefined
  if (reference === undefined && operator === '=' && measured.made === 'all')
    return { kind: 'equal', name, attribute: measured.attribute }
  if (measured.team === 'all' || (measured.made !== 'count' && measured.attribute === undefined)) return undefined
  const compared = {
    kind: 'compare',
    name,
    aggregate: measured.made,
    ...(measured.made !== 'count' && { attribute: measured.attribute }),
    ...(measured.team !== '*' && { team: measured.team }),
    operator,
  }
  if (typeof reference === 'number') return { ...compared, value: reference }
  const other = measuredBy(reference)
  const isAlike = other?.made === measured.made && other.attribute === measured.attribute
  if (!isAlike || other.team === '*' || other.team === 'all' || measured.team === '*') return undefined
  return { ...compared, otherTeam: other.team }
}
