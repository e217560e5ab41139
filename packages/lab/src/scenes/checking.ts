import { didYouMean, validateAll } from '@muster/core/validation'
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
}

type Path = readonly string[]

/** Collects what is wrong with parts of a file. */
export interface Checking {
  readonly faults: readonly SceneFault[]
  /** Reads a part; undefined if it is wrong. */
  read<T>(schema: z.ZodType<T>, value: unknown, path: Path): T | undefined
  fault(path: Path, words: string): void
  warn(path: Path, words: string): void
  /** Refuses a name that there is not, with the nearest that there is. */
  unknown(path: Path, name: string, what: string, known: readonly string[]): void
}

export function createChecking(): Checking {
  const faults: SceneFault[] = []
  const add = (severity: SceneFault['severity'], path: Path, words: string) =>
    void faults.push({ severity, path, message: words, wrong: words })
  const fault = (path: Path, words: string) => add('error', path, words)
  return {
    faults,
    fault,
    warn: (path, words) => add('warning', path, words),
    unknown: (path, name, what, known) => fault(path, `${quoted(name)} is no ${what}${didYouMean(name, known)}`),
    read: (schema, value, path) => {
      const result = validateAll(schema, value)
      if (result.success) return result.data
      for (const { path: inner, message, wrong } of result.faults)
        faults.push({ severity: 'error', path: [...path, ...inner], message, wrong })
      return undefined
    },
  }
}

/** A name as messages show it. */
const quoted = (name: string) => JSON.stringify(name.length > 64 ? `${name.slice(0, 64)}…` : name)
