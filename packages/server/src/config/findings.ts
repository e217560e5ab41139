import { excerptOf } from './excerpt.js'
import type { Finding } from './finding.js'
import type { PathFault } from './check-queues.js'
import { hintOf } from './hints.js'
import type { Place, Source } from './yaml-source.js'

/** Most errors that are told: more are of a file that is none of ours. */
const MOST_TOLD = 100

/** What is found in a text, with its places. */
export interface Findings {
  of(path: readonly string[], message: string, severity?: Finding['severity']): void
  /** Adds the faults of a value of the text; of very many, only the first. */
  faults(faults: readonly PathFault[], value: unknown): void
  /** Makes a finding of what is found later, e.g. that a variable is not set. */
  locate(path: readonly string[], message: string, severity: Finding['severity']): Finding
  /** In the order of the text. */
  sorted(): readonly Finding[]
}

/** Collects what is found in a text, beginning with the faults of the text itself. */
export function createFindings(source: Source): Findings {
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

  const tellMore = (more: number) => {
    if (more > 0) add(source.placeOf([]), [], `has ${more} more errors`, 'error', true)
  }
  const ofFault = (
    { path, message, wrong, isOfName = wrong.startsWith('is not known') }: PathFault,
    value: unknown,
  ) => {
    const part = isOfName ? 'name' : 'value'
    const given = valueAt(value, path)
    const told = typeof given === 'string' && message.includes(JSON.stringify(given))
    if (!told) untold.add(path.join('.'))
    const place = source.placeOf(path, part)
    const raw = source.text.slice(place.from, place.to)
    add(place, path, wordsOf({ message, wrong }, given) + hintOf(path.join('.'), given, wrong, raw), 'error', told)
  }

  for (const { path, message, place } of source.faults.slice(0, MOST_TOLD)) add(place, path, message, 'error')
  tellMore(source.faults.length - MOST_TOLD)
  return {
    of: (path, message, severity = 'error') => void add(source.placeOf(path), path, message, severity, true),
    faults: (faults, value) => {
      for (const fault of faults.slice(0, MOST_TOLD)) ofFault(fault, value)
      tellMore(faults.length - MOST_TOLD)
    },
    locate: (path, message, severity) => withExcerpt(add(source.placeOf(path), path, message, severity, true)),
    sorted: () => found.toSorted((one, other) => one.place.from - other.place.from).map(withExcerpt),
  }
}

/** What is wrong, in the words of a file: the value is left out where it tells nothing. */
function wordsOf({ message, wrong }: Pick<PathFault, 'message' | 'wrong'>, given: unknown): string {
  if (wrong.startsWith('is not known')) return wrong
  if (given === null && message !== wrong) return 'is empty: remove it, or write what belongs behind it'
  // A bound is not the number that was given, though it may have its digits.
  const isTold = typeof given !== 'number' && wrong.includes(JSON.stringify(given) ?? '')
  const isMeant = wrong.includes('did you mean')
  const isPlain = typeof given === 'object' && !/^must be (a|an|true)\b/.test(wrong)
  return (isTold || isMeant || isPlain ? wrong : message).replace('an object', 'names with values')
}

const valueAt = (value: unknown, path: readonly string[]) =>
  path.reduce<unknown>((part, key) => (part as Readonly<Record<string, unknown>> | null | undefined)?.[key], value)
