import { createHash } from 'node:crypto'

/** Creates the name of a key from its last part. All keys of a space share a slot of a cluster. */
export type KeySpace = (name: string) => string

/** `keySpace('mu', 'lobbies')('due')` is `mu:{lobbies}:due`. */
export const keySpace =
  (prefix: string, tag: string): KeySpace =>
  (name) =>
    `${prefix}:{${tag}}:${name}`

/** A reply of Redis to a script. */
export type Reply = string | number | null | readonly Reply[]

/**
 * A script that Redis runs as one atomic step. Its hash is its version: processes of different versions of this package
 * each run their own script.
 */
export interface Script<T> {
  /** The script's name in messages, e.g. `lobbies.replace`. */
  readonly name: string
  readonly text: string
  readonly sha: string
  readonly read: (reply: Reply) => T
}

interface ScriptDefinition<T> {
  readonly name: string
  /** The script in Lua. It checks everything before its first write, so that it is done completely or not at all. */
  readonly lua: string
  /**
   * `write`: rejected while Redis is full or accepts no writes. `write-if-full`: also accepted while Redis is full, for
   * scripts that free memory or must not stop. `read`: never rejected. Default `write`.
   */
  readonly kind?: 'write' | 'write-if-full' | 'read'
  /** Parses the reply. */
  readonly read: (reply: Reply) => T
}

const FLAGS = { write: '', 'write-if-full': ' flags=allow-oom', read: ' flags=no-writes' } as const

/**
 * Defines a script. Its first line makes Redis reject it before it starts if it cannot be completed. In a cluster,
 * Redis also rejects keys of other slots.
 */
export function defineScript<T>({ name, lua, kind = 'write', read }: ScriptDefinition<T>): Script<T> {
  const text = `#!lua${FLAGS[kind]}\n${lua.trim()}\n`
  return { name, text, sha: createHash('sha1').update(text).digest('hex'), read }
}
