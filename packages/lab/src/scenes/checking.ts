import { nearestName, validateAll } from '@muster/core/internal'
import type { z } from 'zod'

/** Something that is wrong in a file of scenes, or that its author may not have meant. */
export interface SceneFault {
  readonly severity: 'error' | 'warning'
  /** Names and indices on the way to it. */
  readonly path: readonly string[]
  /** What is wrong, in words that follow the path. */
  readonly message: string
  /** The same without the value. */
  readonly wrong: string
  /** Whether the name at the end of the path is wrong, and not its value. */
  readonly isOfName?: boolean | undefined
}

type Path = readonly string[]

export type Checking = ReturnType<typeof createChecking>

/** Most errors whose nearest names are looked for: nobody reads more. */
const MOST_NEAR = 200
/** Most tickets that expectations name, each ticket of a group name included. */
const MOST_NAMED = 500_000

/** Collects what is wrong with parts of a file. */
export function createChecking() {
  const faults: SceneFault[] = []
  const warned = new Set<string>()
  let errors = 0
  let named = 0
  const add = (severity: SceneFault['severity'], path: Path, words: string, isOfName = false) =>
    void faults.push({ severity, path, message: words, wrong: words, ...(isOfName && { isOfName }) })
  const fault = (path: Path, words: string, isOfName = false) => {
    errors += 1
    add('error', path, words, isOfName)
  }
  /** The known name that a misspelt one most likely means. */
  const near = (name: string, known: Iterable<string>) =>
    errors > MOST_NEAR ? undefined : nearestName(name, [...known])
  return {
    faults: faults as readonly SceneFault[],
    fault: (path: Path, words: string) => fault(path, words),
    /** Refuses the name at the end of the path. */
    faultOfName: (path: Path, words: string) => fault(path, words, true),
    near,
    /** Warns once about the same name. */
    warn: (path: Path, words: string) => {
      const about = `${path.at(-1)} ${words}`
      if (!warned.has(about)) add('warning', path, words, true)
      warned.add(about)
    },
    /** Refuses a name that there is not, with the nearest that there is. */
    unknown: (path: Path, name: string, what: string, known: Iterable<string>) => {
      const meant = near(name, known)
      fault(path, `${quoted(name)} is no ${what}${meant === undefined ? '' : `; did you mean ${meant}?`}`)
    },
    /** Whether this number of further tickets may be named: one name may denote a thousand. */
    mayName: (tickets: number) => {
      const before = named
      named += tickets
      if (before <= MOST_NAMED && named > MOST_NAMED) fault(['scenes'], `name tickets more than ${MOST_NAMED} times`)
      return named <= MOST_NAMED
    },
    /** Reads a part; undefined if it is wrong. */
    read: <T>(schema: z.ZodType<T>, value: unknown, path: Path): T | undefined => {
      const result = validateAll(schema, value)
      if (result.success) return result.data
      errors += result.faults.length
      for (const { path: inner, message, wrong } of result.faults)
        faults.push({ severity: 'error', path: [...path, ...inner], message, wrong })
      return undefined
    },
  }
}

/** A name as messages show it. */
const quoted = (name: string) => JSON.stringify(name.length > 64 ? `${name.slice(0, 64)}…` : name)
