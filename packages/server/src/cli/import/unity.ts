import { type ImportedConfig, type Json, type Lost, ObjectReader, relaxing, type LimitStep } from './source-file.js'

// A queue of Unity Matchmaker with its pools (JSON, from its public documentation).

/** Imports a queue of Unity Matchmaker. @throws {UnfitSource} naming field and value */
export function importUnity(source: unknown): ImportedConfig {
  const lost: Lost[] = []
  const file = new ObjectReader(source, '', lost)
  const name = file.needText('name')
  for (const known of ['$schema', 'enabled', 'maxPlayersPerTicket']) file.any(known)
  const queues = [queueOf(name, file.needObject('defaultPool'), [])]
  for (const pool of file.objects('filteredPools')) {
    const filters = pool.objects('filters').flatMap(filterOf)
    queues.push(queueOf(`${name}-${pool.needText('name')}`, pool, filters))
    pool.lose('', 'is a queue of its own here: clients name it, or several, in profiles')
  }
  file.end()
  file.lose('', 'has no application: write what your servers run into deploy')
  return { game: 'my-game', queues, sections: {}, lost }
}

const OPERATORS: Readonly<Record<string, string>> = {
  Equal: '=',
  NotEqual: '!=',
  LessThan: '<',
  LessThanEqual: '<=',
  GreaterThan: '>',
  GreaterThanEqual: '>=',
}

function filterOf(filter: ObjectReader): Json[] {
  const [attribute, operator] = [filter.needText('attribute'), OPERATORS[filter.needText('operator')]]
  const value = filter.any('value')
  filter.end()
  if (operator !== undefined) return [{ kind: 'require', attribute, operator, value }]
  filter.lose('operator', 'has no counterpart: the filter is left out')
  return []
}

function queueOf(name: string, pool: ObjectReader, filters: readonly Json[]) {
  for (const known of ['name', 'enabled', 'matchHosting', 'filters']) pool.any(known)
  if (pool.list('variants').length > 0) pool.lose('variants', 'are left out: there is one set of rules a queue')
  const timeout = pool.number('timeoutSeconds')
  const logic = pool.needObject('matchLogic')
  logic.any('name')
  if (logic.boolean('backfillEnabled') === true)
    logic.lose('backfillEnabled', 'is not set here: each game server asks for players by itself')
  const definition = logic.needObject('matchDefinition')
  const teams = definition.objects('teams').map(teamOf)
  const rules = definition.objects('matchRules').flatMap(ruleOf)
  definition.end()
  logic.end()
  pool.end()
  const all = [...filters, ...rules]
  const states = all.flatMap((rule) => {
    const inner = (rule['rule'] ?? rule) as Json
    return inner['kind'] === 'latency' ? ['latencies'] : [String(inner['attribute'])]
  })
  return {
    name,
    teams,
    ...(teams.some(({ size }) => typeof size !== 'number') && { fillForMs: 0 }),
    ...(all.length > 0 && { rules: all }),
    ...(timeout !== undefined && { expireAfterMs: timeout * 1000 }),
    playerMayState: [...new Set(states)],
    deploy: { application: 'my-game', version: '1' },
  }
}

/** Reads a number of teams or players: `{ min, max, relaxations }`. */
function rangeOf(range: ObjectReader) {
  const [least, max] = [range.needNumber('min'), range.needNumber('max')]
  const steps: LimitStep[] = [{ afterMs: 0, value: least }]
  for (const relaxation of range.objects('relaxations')) {
    const [type, atSeconds] = [relaxation.needText('type'), relaxation.needNumber('atSeconds')]
    relaxation.any('ageType')
    if (type === 'RangeControl.ReplaceMin')
      steps.push({ afterMs: atSeconds * 1000, value: relaxation.needNumber('value') })
    else relaxation.lose('type', `is ${type}, which has no counterpart: it is left out`)
    relaxation.end()
  }
  range.end()
  const min = relaxing(steps, 'falls', (message) => range.lose('min', message))
  return { min, max }
}

function teamOf(team: ObjectReader) {
  const name = team.needText('name')
  const count = rangeOf(team.needObject('teamCount'))
  const size = rangeOf(team.needObject('playerCount'))
  if (count.min !== count.max) team.lose('teamCount', `varies: here it is always ${count.max}`)
  for (const rule of team.objects('teamRules')) rule.lose('', 'is left out: give a rule scope: team instead')
  team.end()
  return { name, count: count.max, size: size.min === size.max ? size.max : size }
}

const AGES: Readonly<Record<string, string>> = { Oldest: 'oldest', Youngest: 'youngest', Average: 'average' }

/** Returns the equivalent Muster rule in a list; an empty list if there is none. */
function ruleOf(rule: ObjectReader): Json[] {
  const [name, type, source] = [rule.needText('name'), rule.needText('type'), rule.needText('source')]
  const isNot = rule.boolean('not') === true
  if (rule.boolean('enableRule') === false) {
    rule.lose('enableRule', 'is false: the rule is left out')
    return []
  }
  if (source.includes('ExternalData'))
    rule.lose('source', 'is external data: let your backend state it by profiles, and take it off playerMayState')
  const attribute = source.slice(source.lastIndexOf('.') + 1)
  const { common, steps } = relaxationsOf(rule)
  const reference = rule.any('reference')
  const overlap = rule.number('overlap')
  const rises = typeof reference === 'number' ? limitOf(rule, reference, steps, 'rises') : undefined
  const made = withoutName(type, { attribute, reference, overlap, rises, isLatency: source.includes('QosResults') })
  if (made === undefined) {
    rule.lose('type', `is ${type}, with no counterpart of the same form: write it by hand`)
    return []
  }
  rule.end()
  return [isNot ? { kind: 'not', name, ...common, rule: made } : { ...made, name, ...common }]
}

interface RuleParts {
  readonly attribute: string
  readonly reference: unknown
  readonly overlap: number | undefined
  /** The reference as a limit that rises; undefined if the reference is not a number that can rise. */
  readonly rises: number | readonly LimitStep[] | undefined
  readonly isLatency: boolean
}

function withoutName(type: string, { attribute, reference, overlap, rises, isLatency }: RuleParts): Json | undefined {
  if (isLatency)
    return type.startsWith('LessThan') && rises !== undefined ? { kind: 'latency', maxMs: rises } : undefined
  const operator = OPERATORS[type]
  if (type === 'Difference' && rises !== undefined) return { kind: 'difference', attribute, max: rises }
  if (type === 'Equality') return { kind: 'equal', attribute }
  if (type === 'Intersection') return { kind: 'overlap', attribute, atLeast: overlap ?? (Number(reference) || 1) }
  if (type === 'InList') return { kind: 'require', attribute, operator: 'in', value: reference }
  return operator === undefined ? undefined : { kind: 'require', attribute, operator, value: reference }
}

/**
 * Reads a rule's relaxations. `common` says when the rule stops applying, and by whose wait. `steps` are the values
 * that replace the reference.
 */
function relaxationsOf(rule: ObjectReader) {
  const steps: LimitStep[] = []
  const common: Record<string, unknown> = {}
  for (const relaxation of rule.objects('relaxations')) {
    const [type, afterMs] = [relaxation.needText('type'), relaxation.needNumber('atSeconds') * 1000]
    const by = AGES[relaxation.text('ageType') ?? '']
    if (by !== undefined) common['by'] = by
    if (type === 'RuleControl.Disable') common['optionalAfterMs'] = afterMs
    else if (type === 'ReferenceControl.Replace') steps.push({ afterMs, value: relaxation.needNumber('value') })
    else relaxation.lose('type', `is ${type}, which has no counterpart: it is left out`)
    relaxation.end()
  }
  return { common, steps }
}

const limitOf = (rule: ObjectReader, first: number, steps: readonly LimitStep[], direction: 'rises' | 'falls') =>
  relaxing([{ afterMs: 0, value: first }, ...steps], direction, (message) => rule.lose('', message))
