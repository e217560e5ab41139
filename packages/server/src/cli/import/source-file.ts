import { isObject } from '@muster/core/internal'

/**
 * Readers for the configuration of another matchmaker. They are lenient, because the other service has validated the
 * file.
 */

/** A part of the other configuration that the new file omits or changes. */
export interface Lost {
  /** Path of the part, e.g. `profiles.duel.rules.initial.elo`. */
  readonly path: string
  /** What happened to the part, in words that follow the path. */
  readonly message: string
}

/** The result of importing a configuration of another matchmaker. */
export interface ImportedConfig {
  /** Name of the game's application, which becomes the file's name. */
  readonly game: string
  readonly queues: readonly Json[]
  /** Other sections of muster.yaml. */
  readonly sections: Json
  readonly lost: readonly Lost[]
}

export type Json = Readonly<Record<string, unknown>>

/** Thrown if the file does not have the stated format. The message names field and value. */
export class UnfitSource extends Error {}

/** Maximum number of characters of a value in an error. */
const MOST_SHOWN = 80

function unfit(path: string, wanted: string, value: unknown): UnfitSource {
  const got = value === undefined ? 'there is none' : `got ${JSON.stringify(value)?.slice(0, MOST_SHOWN)}`
  return new UnfitSource(`${path === '' ? 'the file' : path}: must be ${wanted}; ${got}`)
}

/** An object of the file. Each member is read at most once. `end` reports members that were never read as lost. */
export class ObjectReader {
  readonly path: string
  readonly #value: Json
  readonly #known = new Set<string>()
  readonly #lost: Lost[]

  constructor(value: unknown, path: string, lost: Lost[]) {
    if (!isObject(value)) throw unfit(path, 'an object', value)
    this.path = path
    this.#value = value
    this.#lost = lost
  }

  at(name: string): string {
    return this.path === '' ? name : `${this.path}.${name}`
  }

  has(name: string): boolean {
    return this.any(name) !== undefined
  }

  /** The raw member; undefined if it is missing or null. */
  any(name: string): unknown {
    this.#known.add(name)
    return Object.hasOwn(this.#value, name) ? (this.#value[name] ?? undefined) : undefined
  }

  names(): string[] {
    return Object.keys(this.#value)
  }

  object(name: string): ObjectReader | undefined {
    const value = this.any(name)
    return value === undefined ? undefined : new ObjectReader(value, this.at(name), this.#lost)
  }

  objects(name: string): ObjectReader[] {
    return this.list(name).map((value, index) => new ObjectReader(value, `${this.at(name)}[${index}]`, this.#lost))
  }

  needObject(name: string): ObjectReader {
    return this.object(name) ?? this.missing(name, 'an object')
  }

  text(name: string): string | undefined {
    const value = this.any(name)
    if (value === undefined || typeof value === 'string') return value
    throw unfit(this.at(name), 'a text', value)
  }

  needText(name: string): string {
    return this.text(name) ?? this.missing(name, 'a text')
  }

  number(name: string): number | undefined {
    const value = this.any(name)
    if (value === undefined || (typeof value === 'number' && Number.isFinite(value))) return value
    throw unfit(this.at(name), 'a number', value)
  }

  needNumber(name: string): number {
    return this.number(name) ?? this.missing(name, 'a number')
  }

  boolean(name: string): boolean | undefined {
    const value = this.any(name)
    if (value === undefined || typeof value === 'boolean') return value
    throw unfit(this.at(name), 'true or false', value)
  }

  list(name: string): readonly unknown[] {
    const value = this.any(name) ?? []
    if (Array.isArray(value)) return value
    throw unfit(this.at(name), 'a list', value)
  }

  texts(name: string): string[] {
    const wrong = this.list(name).find((one) => typeof one !== 'string')
    if (wrong !== undefined) throw unfit(this.at(name), 'a list of texts', wrong)
    return this.list(name) as string[]
  }

  missing(name: string, wanted: string): never {
    throw unfit(this.at(name), wanted, undefined)
  }

  lose(name: string, message: string): void {
    this.#lost.push({ path: name === '' ? this.path : this.at(name), message })
  }

  /** Reports each member that was not read. */
  end(): void {
    for (const name of this.names()) if (!this.#known.has(name)) this.lose(name, 'has no counterpart, and is left out')
  }
}

/** A value that applies from a wait time on. */
export interface LimitStep {
  readonly afterMs: number
  readonly value: number
}

/** Maximum number of steps of a limit of Muster. */
export const MOST_STEPS = 20

/**
 * Returns a limit that relaxes: one number, or steps. A step that is stricter than the previous one is omitted, because
 * Muster's limits only relax. Of too many steps, some between the first and the last are omitted.
 * @param lose called with a sentence about omitted steps, which follows the name of the limit.
 */
export function relaxing(
  steps: readonly LimitStep[],
  direction: 'rises' | 'falls',
  lose: (message: string) => void,
): number | readonly LimitStep[] | undefined {
  const kept: LimitStep[] = []
  for (const step of steps) {
    const last = kept.at(-1)
    if (last === undefined) kept.push({ ...step, afterMs: 0 })
    else if (last.value === step.value) continue
    else if (direction === 'rises' ? step.value > last.value : step.value < last.value) kept.push(step)
    else
      lose(
        `becomes stricter at ${step.afterMs / 1000} s (${step.value}): limits can only relax, so this step is left out`,
      )
  }
  if (kept.length > MOST_STEPS)
    lose(
      `has ${kept.length} steps, of which ${kept.length - MOST_STEPS} are left out: a limit has ${MOST_STEPS} at most`,
    )
  const some = kept.length > MOST_STEPS ? thinned(kept) : kept
  return some.length > 1 ? some : some[0]?.value
}

/** Returns as many steps as a limit may have, evenly chosen, with the first and the last. */
const thinned = (steps: readonly LimitStep[]): readonly LimitStep[] =>
  Array.from(
    { length: MOST_STEPS },
    (_, index) => steps[Math.round((index * (steps.length - 1)) / (MOST_STEPS - 1))] as LimitStep,
  )
