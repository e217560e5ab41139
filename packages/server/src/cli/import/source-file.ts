/** What the configuration of another matchmaker holds: read leniently, since its own service has checked it. */

/** Something of the other configuration that the new file does not have, or has otherwise. */
export interface Lost {
  /** Where it is, e.g. `profiles.duel.rules.initial.elo`. */
  readonly path: string
  /** What becomes of it, in words that follow the path. */
  readonly message: string
}

/** What becomes of a configuration of another matchmaker. */
export interface Imported {
  /** Name of the game's application, from which the file gets its name. */
  readonly game: string
  readonly queues: readonly Json[]
  /** Other sections of muster.yaml. */
  readonly sections: Json
  readonly lost: readonly Lost[]
}

export type Json = Readonly<Record<string, unknown>>

/** The file is not what it is said to be. The message names field and value. */
export class UnfitSource extends Error {}

export const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Most characters of a value in an error. */
const MOST_SHOWN = 80

function unfit(path: string, wanted: string, value: unknown): UnfitSource {
  const got = value === undefined ? 'there is none' : `got ${JSON.stringify(value)?.slice(0, MOST_SHOWN)}`
  return new UnfitSource(`${path === '' ? 'the file' : path}: must be ${wanted}; ${got}`)
}

/** An object of the file, of which each member is read once; those that nobody reads are told as lost. */
export class Reader {
  readonly path: string
  readonly #value: Json
  readonly #known = new Set<string>()
  readonly #lost: Lost[]

  constructor(value: unknown, path: string, lost: Lost[]) {
    if (!isJson(value)) throw unfit(path, 'an object', value)
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

  /** The member as it is; undefined if it is not there, or null. */
  any(name: string): unknown {
    this.#known.add(name)
    return Object.hasOwn(this.#value, name) ? (this.#value[name] ?? undefined) : undefined
  }

  names(): string[] {
    return Object.keys(this.#value)
  }

  object(name: string): Reader | undefined {
    const value = this.any(name)
    return value === undefined ? undefined : new Reader(value, this.at(name), this.#lost)
  }

  objects(name: string): Reader[] {
    return this.list(name).map((value, index) => new Reader(value, `${this.at(name)}[${index}]`, this.#lost))
  }

  needObject(name: string): Reader {
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

  /** Tells of each member that was not read. */
  end(): void {
    for (const name of this.names()) if (!this.#known.has(name)) this.lose(name, 'has no counterpart, and is left out')
  }
}

/** A value from a time of waiting on. */
export interface Step {
  readonly afterMs: number
  readonly value: number
}

/**
 * A limit that relaxes: one number, or steps. A step that is stricter than the one before is left out, since limits of
 * Muster only relax.
 * @param stricter called with each step that is left out.
 */
export function relaxing(
  steps: readonly Step[],
  direction: 'rises' | 'falls',
  stricter: (step: Step) => void,
): number | readonly Step[] | undefined {
  const kept: Step[] = []
  for (const step of steps) {
    const last = kept.at(-1)
    if (last === undefined) kept.push({ ...step, afterMs: 0 })
    else if (last.value === step.value) continue
    else if (direction === 'rises' ? step.value > last.value : step.value < last.value) kept.push(step)
    else stricter(step)
  }
  return kept.length > 1 ? kept : kept[0]?.value
}
