import { validateAll } from '@muster/core/validation'
import type { Queue } from '@muster/matchmaker'
import { checkQueues, type PathFault } from './check-queues.js'
import { contradictionsIn } from './contradictions.js'
import { excerptOf } from './excerpt.js'
import type { Finding } from './finding.js'
import { hintOf } from './hints.js'
import { fileSchema, type ConfigFile } from './schema/file.js'
import { warningsAbout } from './warnings.js'
import { readYaml, type Place, type Source } from './yaml-source.js'

/** The file as its schema gives it, and its queues as the matchmaker does. */
export interface CheckedFile {
  readonly file: ConfigFile
  readonly queues: readonly Queue[]
}

export interface CheckedText {
  /** Undefined if there are errors. */
  readonly checked: CheckedFile | undefined
  /** In the order of the text. */
  readonly findings: readonly Finding[]
  /** Makes a finding of what is found later, e.g. that a variable is not set. */
  locate(path: readonly string[], message: string, severity: Finding['severity']): Finding
}

/** Checks the text of a configuration, without looking at anything outside of it. */
export function checkText(text: string): CheckedText {
  const source = readYaml(text)
  const findings = createFindings(source)
  for (const { path, message, place } of source.faults) findings.at(place, path, message)
  const checked = source.faults.length === 0 ? checkValue(source, findings) : undefined
  return { checked, findings: findings.sorted(), locate: findings.locate }
}

/** Most errors that are told: more are of a file that is none of ours. */
const MOST_TOLD = 100

function checkValue({ value, document }: Source, findings: Findings): CheckedFile | undefined {
  if (document.contents === null || value === null) {
    findings.of([], 'is empty: `muster init` writes a configuration to begin with')
    return undefined
  }
  const { data, faults = [] } = validateAll(fileSchema, value)
  const given = (value as { readonly queues?: unknown }).queues
  const { queues, faults: ofQueues } = checkQueues(Array.isArray(given) ? given : [])
  const all = [...faults, ...ofQueues]
  for (const fault of all.slice(0, MOST_TOLD)) findings.fault(fault, value)
  if (all.length > MOST_TOLD) findings.of([], `has ${all.length - MOST_TOLD} more errors`)
  if (data === undefined || ofQueues.length > 0) return undefined
  const checked = { file: data, queues }
  const contradictions = contradictionsIn(checked)
  for (const { path, message } of contradictions) findings.of(path, message)
  for (const { path, message } of warningsAbout(checked)) findings.of(path, message, 'warning')
  return contradictions.length === 0 ? checked : undefined
}

type Findings = ReturnType<typeof createFindings>

function createFindings(source: Source) {
  const found: { readonly finding: Omit<Finding, 'excerpt'>; readonly place: Place; readonly told: boolean }[] = []
  const untold = new Set<string>()

  const add = (place: Place, path: readonly string[], message: string, severity: Finding['severity'], told = false) => {
    const finding = { severity, field: path.join('.'), message, ...source.positionOf(place) }
    found.push({ finding, place, told })
    return { finding, place, told }
  }
  const withExcerpt = ({ finding, place, told }: (typeof found)[number]): Finding => {
    const excerpt = excerptOf(source, place, untold, told)
    return { ...finding, ...(excerpt !== undefined && { excerpt }) }
  }
  const partOf = (message: string) => (message.startsWith('is not known') ? 'name' : 'value')

  return {
    at: (place: Place, path: readonly string[], message: string) => void add(place, path, message, 'error'),
    of: (path: readonly string[], message: string, severity: Finding['severity'] = 'error') =>
      void add(source.placeOf(path), path, message, severity, true),
    fault: ({ path, message, wrong }: PathFault, value: unknown) => {
      const part = partOf(message)
      const given = valueAt(value, path)
      const told = typeof given === 'string' && message.includes(JSON.stringify(given))
      if (!told) untold.add(path.join('.'))
      const place = source.placeOf(path, part)
      const raw = source.text.slice(place.from, place.to)
      add(place, path, wordsOf({ message, wrong }, given) + hintOf(path.join('.'), given, wrong, raw), 'error', told)
    },
    locate: (path: readonly string[], message: string, severity: Finding['severity']): Finding =>
      withExcerpt(add(source.placeOf(path), path, message, severity, true)),
    sorted: (): readonly Finding[] =>
      found.toSorted((one, other) => one.place.from - other.place.from).map(withExcerpt),
  }
}

/** What is wrong, in the words of a file: the value is left out where it tells nothing. */
function wordsOf({ message, wrong }: Pick<PathFault, 'message' | 'wrong'>, given: unknown): string {
  if (wrong.startsWith('is not known')) return wrong
  if (given === null) return 'is empty: remove it, or write what belongs behind it'
  const isTold = wrong.includes(JSON.stringify(given) ?? '') || wrong.includes('did you mean')
  const isPlain = typeof given === 'object' && !/^must be (a|an|true)\b/.test(wrong)
  return (isTold || isPlain ? wrong : message).replace('an object', 'names with values')
}

const valueAt = (value: unknown, path: readonly string[]) =>
  path.reduce<unknown>((part, key) => (part as Readonly<Record<string, unknown>> | null | undefined)?.[key], value)
