import { isObject } from '@muster/core/internal'
import {
  type ImportedConfig,
  type Json,
  type Lost,
  MOST_STEPS,
  ObjectReader,
  relaxing,
  type LimitStep,
} from './source-file.js'

// A queue of PlayFab Matchmaking (JSON of GetMatchmakingQueue and SetMatchmakingQueue, from its public documentation).

/** Maximum number of steps after the first value. With more, a linear expansion becomes a line, or is cut off. */
const MOST_EXPANSIONS = MOST_STEPS - 1

/** Imports a queue of PlayFab. @throws {UnfitSource} naming field and value */
export function importPlayFab(source: unknown): ImportedConfig {
  const lost: Lost[] = []
  const inner = isObject(source) && isObject(source['MatchmakingQueue']) ? source['MatchmakingQueue'] : source
  const queue = new ObjectReader(inner, '', lost)
  const name = queue.needText('Name')
  const [least, most] = [queue.needNumber('MinMatchSize'), queue.needNumber('MaxMatchSize')]
  const given = queue.objects('Teams').map((team) => {
    const [min, max] = [team.needNumber('MinTeamSize'), team.needNumber('MaxTeamSize')]
    const one = { name: team.needText('Name'), size: min === max ? max : { min, max } }
    team.end()
    return one
  })
  const teams =
    given.length > 0 ? given : [{ name: 'players', size: least === most ? most : { min: least, max: most } }]
  const region = queue.object('RegionSelectionRule')
  const translated = [
    ...queue.objects('StringEqualityRules').map(equalOf),
    ...queue.objects('DifferenceRules').map(differenceOf),
    ...queue.objects('SetIntersectionRules').map(overlapOf),
    ...queue.objects('TeamDifferenceRules').map(balanceOf),
    ...(region === undefined ? [] : [regionOf(region)]),
  ]
  for (const rule of queue.objects('MatchTotalRules'))
    rule.lose('', 'is left out: write it as compare with scope: match, once for each bound')
  for (const other of ['TeamSizeBalanceRule', 'TeamTicketSizeSimilarityRule', 'StatisticsVisibilityToPlayers'])
    if (queue.has(other)) queue.lose(other, 'is left out: docs/rules.md says what takes its place')
  for (const known of ['ServerAllocationEnabled', 'BuildId', 'MaxTicketSize']) queue.any(known)
  queue.end()
  queue.lose('', 'has no application: write what your servers run into deploy')
  const states = translated.flatMap((rule) =>
    rule['kind'] === 'latency' ? ['latencies'] : [String(rule['attribute'])],
  )
  const deploy = { application: 'my-game', version: '1' }
  const made = { name, teams, rules: translated, playerMayState: [...new Set(states)], deploy }
  return { game: deploy.application, queues: [made], sections: {}, lost }
}

/**
 * Returns the common fields of a rule: its name, when it stops applying, and how players without the attribute match.
 */
function commonOf(rule: ObjectReader): Json {
  const name = rule.text('Name')
  const seconds = rule.number('SecondsUntilOptional')
  if ((rule.number('Weight') ?? 1) !== 1) rule.lose('Weight', 'is left out: prefer of the queue weighs what counts')
  const behaviour = rule.text('AttributeNotSpecifiedBehavior')
  const value = rule.any('DefaultAttributeValue')
  const missing =
    behaviour === 'MatchAny' ? 'any' : behaviour === 'UseDefault' && value !== undefined ? { value } : undefined
  return {
    ...(name !== undefined && { name }),
    ...(seconds !== undefined && { optionalAfterMs: seconds * 1000 }),
    ...(missing !== undefined && { missing }),
  }
}

function attributeOf(rule: ObjectReader): string {
  const attribute = rule.needObject('Attribute')
  const source = attribute.text('Source')
  if (source !== undefined && source !== 'User')
    attribute.lose('Source', `is ${source}: let the token or your backend state it, and take it off playerMayState`)
  const path = attribute.needText('Path')
  attribute.end()
  return path
}

const done = <T>(rule: ObjectReader, made: T): T => {
  rule.end()
  return made
}

const equalOf = (rule: ObjectReader): Json =>
  done(rule, { kind: 'equal', attribute: attributeOf(rule), ...commonOf(rule) })

const overlapOf = (rule: ObjectReader): Json => {
  const attribute = attributeOf(rule)
  const atLeast = limitOf(rule, rule.needNumber('MinIntersectionSize'), 'falls', 'MinIntersectionSizeOverrides')
  return done(rule, { kind: 'overlap', attribute, atLeast, ...commonOf(rule) })
}

const PARTIES: Readonly<Record<string, string>> = { Min: 'min', Max: 'max', Average: 'avg' }

const differenceOf = (rule: ObjectReader): Json => {
  const attribute = attributeOf(rule)
  const party = PARTIES[rule.text('MergeFunction') ?? 'Average'] ?? 'avg'
  const max = limitOf(rule, rule.needNumber('Difference'), 'rises', 'DifferenceOverrides')
  return done(rule, { kind: 'difference', attribute, max, party, ...commonOf(rule) })
}

const balanceOf = (rule: ObjectReader): Json => {
  const attribute = attributeOf(rule)
  const max = limitOf(rule, rule.needNumber('Difference'), 'rises', 'DifferenceOverrides')
  return done(rule, { kind: 'balance', attribute, max, ...commonOf(rule) })
}

const regionOf = (rule: ObjectReader): Json => {
  if (rule.text('Path') !== undefined)
    rule.lose('Path', 'is called beacons here: clients send an object of milliseconds by place')
  const maxMs = limitOf(rule, rule.needNumber('MaxLatency'), 'rises', 'MaxLatencyOverrides')
  const { missing: _, ...common } = commonOf(rule)
  return done(rule, { kind: 'latency', maxMs, ...common })
}

/** Returns a limit with its linear or custom expansion as steps. */
function limitOf(rule: ObjectReader, first: number, direction: 'rises' | 'falls', overrides: string) {
  const steps: LimitStep[] = [{ afterMs: 0, value: first }]
  const linear = rule.object('LinearExpansion')
  const custom = rule.object('CustomExpansion')
  if (linear !== undefined) {
    const [delta, everyMs] = [linear.needNumber('Delta'), linear.needNumber('SecondsBetweenExpansions') * 1000]
    const limit = linear.number('Limit')
    const sign = direction === 'rises' ? 1 : -1
    const needed = limit === undefined ? Infinity : Math.ceil((sign * (limit - first)) / delta)
    if (limit !== undefined && needed > MOST_EXPANSIONS && needed < Infinity && everyMs > 0 && custom === undefined) {
      linear.lose('', `has ${needed} steps, and grows evenly here, so it is a little looser between them`)
      linear.end()
      return { from: first, to: limit, overMs: needed * everyMs }
    }
    for (let nth = 1; nth <= MOST_EXPANSIONS && steps.at(-1)?.value !== limit; nth += 1) {
      const value = first + sign * delta * nth
      const bounded =
        limit === undefined ? value : direction === 'rises' ? Math.min(value, limit) : Math.max(value, limit)
      steps.push({ afterMs: nth * everyMs, value: bounded })
    }
    if (steps.at(-1)?.value !== limit) linear.lose('', `ends after ${MOST_EXPANSIONS} steps here`)
    linear.end()
  }
  if (custom !== undefined) {
    const everyMs = custom.needNumber('SecondsBetweenExpansions') * 1000
    for (const [index, one] of custom.list(overrides).entries()) {
      const value = isObject(one) ? one['OverrideValue'] : one
      if (typeof value === 'number') steps.push({ afterMs: (index + 1) * everyMs, value })
      else custom.lose(overrides, `[${index}] is not a number and is left out`)
    }
    custom.end()
  }
  return relaxing(steps, direction, (message) => rule.lose('', message))
}
