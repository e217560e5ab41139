import type { Fault } from '@muster/core/internal'
import { checkQueue, type Queue } from '@muster/matchmaker'
import { excerptOf } from './excerpt.js'
import { namesGivenTwice } from './warnings.js'
import type { TextRange, Source } from './yaml-source.js'

/** An error in a configuration, or a warning about a setting that its author may not have meant. */
export interface Finding {
  /** A configuration with an error is rejected. Warnings are only logged. */
  readonly severity: 'error' | 'warning'
  /** Path of the field, as in `queues.0.matchSize`; empty for the file as a whole. */
  readonly field: string
  /** The fault, in words that follow the field. It contains no secret. */
  readonly message: string
  /** Line of the field, from 1; undefined if the file could not be read. */
  readonly line?: number | undefined
  /** Column of the field in UTF-16 units, from 1, as editors count. */
  readonly column?: number | undefined
  /** The line of the field with a mark under the position. Strings that may be secrets are omitted. */
  readonly excerpt?: string | undefined
}

/** Thrown if a configuration cannot be used. */
export class InvalidConfig extends Error {
  /** Path of the configuration, as passed to the reader. */
  readonly file: string
  /** All errors and warnings, in the order of the file. */
  readonly findings: readonly Finding[]

  static {
    this.prototype.name = 'InvalidConfig'
  }

  constructor(file: string, findings: readonly Finding[]) {
    super(
      findings
        .filter(({ severity }) => severity === 'error')
        .map((one) => inOneLine(file, one))
        .join('\n'),
    )
    this.file = file
    this.findings = findings
  }

  /** Creates an error about a file as a whole, or about a position in the file that is not a field. */
  static because(file: string, message: string, place: Partial<Finding> = {}): InvalidConfig {
    return new InvalidConfig(file, [{ severity: 'error', field: '', message, ...place }])
  }
}

/** Returns a finding like `muster.yaml:3:5: queues.0.matchSize: must be at least 1, got 0`. */
function inOneLine(file: string, { line, column, field, message }: Finding): string {
  const place = line === undefined ? file : `${file}:${line}:${column}`
  return field === '' ? `${place}: ${message}` : `${place}: ${field}: ${message}`
}

/** Milliseconds of each unit that authors append to a number. */
const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, sec: 1000, m: 60_000, min: 60_000, h: 3_600_000 }

/**
 * Returns how to correct a value that has the wrong type, e.g. `; write 5000, in milliseconds`. Empty if there is no
 * such advice.
 * @param wrong the fault of the value.
 * @param raw the value as written in the file.
 */
function hintOf(field: string, value: unknown, wrong: string, raw: string): string {
  if (typeof value === 'number' || typeof value === 'boolean')
    return wrong === 'must be a text' ? `; write "${raw}", in quotes` : ''
  if (typeof value !== 'string') return ''
  if (wrong.startsWith('must be true or false'))
    return /^(yes|no|on|off|y|n)$/i.test(value) ? `; write ${truthOf(value)}` : ''
  if (!wrong.includes('number')) return ''
  const number = /^([+-]?\d[\d_]*(?:\.\d+)?)\s*([a-z]*)$/i.exec(value.trim())
  const [, digits = '', unit = ''] = number ?? []
  const plain = Number(digits.replaceAll('_', ''))
  if (number === null || !Number.isFinite(plain)) return ''
  if (unit === '') return `; write ${plain}, without quotes or underscores`
  const factor = UNITS[unit.toLowerCase()]
  return factor !== undefined && field.endsWith('Ms') ? `; write ${plain * factor}, in milliseconds` : ''
}

const truthOf = (word: string) => (/^(yes|on|y)$/i.test(word) ? 'true' : 'false')

/** Maximum number of errors in a report. A file with more errors is not a configuration of this program. */
const MOST_SHOWN = 100

/** The findings in a configuration's text, with their positions. */
export type Findings = ReturnType<typeof createFindings>

/** Collects the findings in a text, beginning with the syntax errors. */
export function createFindings(source: Source) {
  const found: { readonly finding: Omit<Finding, 'excerpt'>; readonly place: TextRange; readonly isShown: boolean }[] =
    []
  const unshown = new Set<string>()

  const add = (
    place: TextRange,
    path: readonly string[],
    message: string,
    severity: Finding['severity'],
    isShown = false,
  ) => {
    const finding = { severity, field: path.join('.'), message, ...source.positionOf(place) }
    found.push({ finding, place, isShown })
    return { finding, place, isShown }
  }
  const withExcerpt = ({ finding, place, isShown }: (typeof found)[number]): Finding => {
    const excerpt = excerptOf(source, place, unshown, isShown)
    return { ...finding, ...(excerpt !== undefined && { excerpt }) }
  }

  const tellMore = (more: number) => {
    if (more > 0) add(source.placeOf([]), [], `has ${more} more errors`, 'error', true)
  }
  const ofFault = (
    { path, message, wrong, isOfName = wrong.startsWith('is not known') }: PathFault,
    value: unknown,
  ) => {
    const part = isOfName ? 'name' : 'value'
    const given = valueAt(value, path)
    const isShown = typeof given === 'string' && message.includes(JSON.stringify(given))
    if (!isShown) unshown.add(path.join('.'))
    const place = source.placeOf(path, part)
    const raw = source.text.slice(place.from, place.to)
    add(place, path, wordsOf({ message, wrong }, given) + hintOf(path.join('.'), given, wrong, raw), 'error', isShown)
  }

  for (const { path, message, place } of source.faults.slice(0, MOST_SHOWN)) add(place, path, message, 'error')
  tellMore(source.faults.length - MOST_SHOWN)
  return {
    of: (path: readonly string[], message: string, severity: Finding['severity'] = 'error') =>
      void add(source.placeOf(path), path, message, severity, true),
    /** Adds the faults of a value in the text. If there are more than `MOST_SHOWN`, adds only the first ones. */
    faults: (faults: readonly PathFault[], value: unknown) => {
      for (const fault of faults.slice(0, MOST_SHOWN)) ofFault(fault, value)
      tellMore(faults.length - MOST_SHOWN)
    },
    /** Adds a finding after the validation, e.g. for a variable that is not set. */
    locate: (path: readonly string[], message: string, severity: Finding['severity']): Finding =>
      withExcerpt(add(source.placeOf(path), path, message, severity, true)),
    /** Returns the findings in the order of their positions. */
    sorted: (): readonly Finding[] =>
      found.toSorted((one, other) => one.place.from - other.place.from).map(withExcerpt),
  }
}

/** Returns a fault's text for the author of the file. The value is omitted unless it helps to understand the fault. */
function wordsOf({ message, wrong }: Pick<PathFault, 'message' | 'wrong'>, given: unknown): string {
  if (wrong.startsWith('is not known')) return wrong
  if (given === null && message !== wrong) return 'is empty: remove it, or give it a value'
  // Numbers are not searched for in the message, because a bound in it may have the same digits.
  const isShown = typeof given !== 'number' && wrong.includes(JSON.stringify(given) ?? '')
  const isMeant = wrong.includes('did you mean')
  const isPlain = typeof given === 'object' && !/^must be (a|an|true)\b/.test(wrong)
  return (isShown || isMeant || isPlain ? wrong : message).replace('an object', 'names with values')
}

const valueAt = (value: unknown, path: readonly string[]) =>
  path.reduce<unknown>((part, key) => (part as Readonly<Record<string, unknown>> | null | undefined)?.[key], value)

/** A fault at a path. Its message follows the name of the field. */
export type PathFault = Pick<Fault, 'path' | 'message' | 'wrong'> & {
  /** True if the fault is the name at the end of the path, not the value. */
  readonly isOfName?: boolean | undefined
}

const CUSTOM =
  'is a function, which no file can hold: say it by any, all, not, accepts or compare, or use Muster as a library'

/**
 * Validates the queues of a file with the matchmaker's own check. The paths of faults are paths in the file.
 * @param pools the pools of the file, which queues may name.
 */
export function checkQueues(
  given: readonly unknown[],
  pools: Parameters<typeof checkQueue>[1] = [],
): { queues: readonly Queue[]; faults: readonly PathFault[] } {
  const checked = given.map((definition) => checkQueue(definition, pools))
  const faults = given.flatMap((definition, index) => {
    const customs = customRulesIn(definition, ['queues', String(index)])
    const others = (checked[index]?.faults ?? []).map((fault) => ({
      ...fault,
      path: ['queues', String(index), ...fault.path],
    }))
    const isCustoms = ({ path }: PathFault) => customs.some((rule) => rule.every((key, at) => path[at] === key))
    return [
      ...customs.map((rule) => ({ path: [...rule, 'kind'], message: CUSTOM, wrong: CUSTOM })),
      ...others.filter((fault) => !isCustoms(fault)),
    ]
  })
  const names = given.map((definition) => ({ name: fieldOf(definition, 'name') }))
  const twice = namesGivenTwice(names, 'queues').map(({ path, message }) => ({ path, message, wrong: message }))
  return { queues: checked.flatMap(({ queue }) => queue ?? []), faults: [...faults, ...twice] }
}

/** Returns the paths of all rules of kind `custom`, nested ones included. */
function customRulesIn(part: unknown, path: readonly string[]): (readonly string[])[] {
  if (fieldOf(part, 'kind') === 'custom') return [path]
  const rules = fieldOf(part, 'rules')
  const inner = Array.isArray(rules) ? rules.map((rule, at) => [rule as unknown, ['rules', String(at)]] as const) : []
  const not = fieldOf(part, 'rule')
  return [...inner, ...(not === undefined ? [] : [[not, ['rule']] as const])].flatMap(([rule, keys]) =>
    customRulesIn(rule, [...path, ...keys]),
  )
}

const fieldOf = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Readonly<Record<string, unknown>>)[key]
    : undefined
