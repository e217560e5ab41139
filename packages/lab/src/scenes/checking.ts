import { nearestName, validateAll } from '@muster/core/internal'
import type { z } from 'zod'

/** An error in a file of scenes, or a warning about something that its author may not have meant. */
export interface SceneFault {
  readonly severity: 'error' | 'warning'
  /** The names and indexes from the root of the file to the fault. */
  readonly path: readonly string[]
  /** The fault, in words that follow the path. */
  readonly message: string
  /** The message without the invalid value. */
  readonly wrong: string
  /** True if the fault is the name at the end of the path, not the value. */
  readonly isOfName?: boolean | undefined
}

export type FieldPath = readonly string[]

export type Checking = ReturnType<typeof createChecking>

/** Number of errors after which no names are suggested any more, because nobody reads as many. */
const MOST_NEAR = 200
/** Maximum number of tickets that expectations may name in total. Each ticket of a group counts. */
const MOST_NAMED = 500_000

/** Creates a collector for the faults of a file. */
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
  /** Returns the known name that a misspelt one most likely means; undefined if none is similar. */
  const near = (name: string, known: Iterable<string>) =>
    errors > MOST_NEAR ? undefined : nearestName(name, [...known])
  return {
    faults: faults as readonly SceneFault[],
    fault: (path: FieldPath, words: string) => fault(path, words),
    /** Reports that the name at the end of the path is wrong. */
    faultOfName: (path: FieldPath, words: string) => fault(path, words, true),
    near,
    /** Reports a warning, once for each name and text. */
    warn: (path: FieldPath, words: string) => {
      const about = `${path.at(-1)} ${words}`
      if (!warned.has(about)) add('warning', path, words, true)
      warned.add(about)
    },
    /** Reports an unknown name, and suggests the nearest known one. */
    unknown: (path: FieldPath, name: string, what: string, known: Iterable<string>) => {
      const meant = near(name, known)
      fault(path, `${quoted(name)} is not a known ${what}${meant === undefined ? '' : `; did you mean ${meant}?`}`)
    },
    /**
     * Counts tickets that an expectation names, and returns true if they may be named. One name may denote a thousand.
     */
    mayName: (tickets: number) => {
      const before = named
      named += tickets
      if (before <= MOST_NAMED && named > MOST_NAMED) fault(['scenes'], `name tickets more than ${MOST_NAMED} times`)
      return named <= MOST_NAMED
    },
    /** Validates a part of the file. Returns undefined if it is invalid, and reports its faults. */
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

/** Returns a name in quotes, shortened to 64 characters, as messages show it. */
const quoted = (name: string) => JSON.stringify(name.length > 64 ? `${name.slice(0, 64)}…` : name)
