import { nearestName, validateAll } from '@muster/core/internal'
import type { z } from 'zod'

/** A fault of a file of scenes, or something that its author may not have meant. */
export interface SceneFault {
  readonly severity: 'error' | 'warning'
  /** Names and indexes that lead to it. */
  readonly path: readonly string[]
  /** The fault, in words that follow the path. */
  readonly message: string
  /** The same without the value. */
  readonly wrong: string
  /** True if the name at the end of the path is wrong, and not its value. */
  readonly isOfName?: boolean | undefined
}

export type FieldPath = readonly string[]

export type Checking = ReturnType<typeof createChecking>

/** Maximum number of errors with suggested names, because nobody reads more. */
const MOST_NEAR = 200
/** Maximum number of tickets in expectations, where each ticket of a group counts. */
const MOST_NAMED = 500_000

/** Collects the faults of parts of a file. */
export function createChecking() {
  const faults: SceneFault[] = []
  const warned = new Set<string>()
  let errors = 0
  let named = 0
  const add = (severity: SceneFault['severity'], path: FieldPath, words: string, isOfName = false) =>
    void faults.push({ severity, path, message: words, wrong: words, ...(isOfName && { isOfName }) })
  const fault = (path: FieldPath, words: string, isOfName = false) => {
    errors += 1
    add('error', path, words, isOfName)
  }
  /** The known name that a misspelt one most likely means. */
  const near = (name: string, known: Iterable<string>) =>
    errors > MOST_NEAR ? undefined : nearestName(name, [...known])
  return {
    faults: faults as readonly SceneFault[],
    fault: (path: FieldPath, words: string) => fault(path, words),
    /** Rejects the name at the end of the path. */
    faultOfName: (path: FieldPath, words: string) => fault(path, words, true),
    near,
    /** Warns once about each name. */
    warn: (path: FieldPath, words: string) => {
      const about = `${path.at(-1)} ${words}`
      if (!warned.has(about)) add('warning', path, words, true)
      warned.add(about)
    },
    /** Rejects an unknown name, and suggests the nearest known one. */
    unknown: (path: FieldPath, name: string, what: string, known: Iterable<string>) => {
      const meant = near(name, known)
      fault(path, `${quoted(name)} is not a known ${what}${meant === undefined ? '' : `; did you mean ${meant}?`}`)
    },
    /** True if this number of further tickets may be named: one name may denote a thousand. */
    mayName: (tickets: number) => {
      const before = named
      named += tickets
      if (before <= MOST_NAMED && named > MOST_NAMED) fault(['scenes'], `name tickets more than ${MOST_NAMED} times`)
      return named <= MOST_NAMED
    },
    /** Validates a part; undefined if it is invalid. */
    read: <T>(schema: z.ZodType<T>, value: unknown, path: FieldPath): T | undefined => {
      const result = validateAll(schema, value)
      if (result.success) return result.data
      errors += result.faults.length
      for (const { path: inner, message, wrong } of result.faults)
        faults.push({ severity: 'error', path: [...path, ...inner], message, wrong })
      return undefined
    },
  }
}

/** A name in the form that messages show. */
const quoted = (name: string) => JSON.stringify(name.length > 64 ? `${name.slice(0, 64)}…` : name)
