import { createHash } from 'node:crypto'

/** Names a key by its last part. All keys of one space are in one slot of a cluster. */
export type KeySpace = (name: string) => string

/** `keySpace('mu', 'lobbies')('due')` is `mu:{lobbies}:due`. */
export const keySpace =
  (prefix: string, tag: string): KeySpace =>
  (name) =>
    `${prefix}:{${tag}}:${name}`

/** An answer of Redis, as scripts give it. */
export type Reply = string | number | null | readonly Reply[]

/**
 * A script that Redis runs as one atomic step. Its hash is its version: processes of different versions of this
 * package each run their own.
 */
export interface Script<T> {
  /** For messages, e.g. `lobbies.replace`. */
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
   * `write`: refused while Redis is full or takes no writes. `write-if-full`: also done while Redis is full, for what
   * frees memory or must not stop. `read`: never refused. Default `write`.
   */
  readonly kind?: 'write' | 'write-if-full' | 'read'
  /** Reads the answer. */
  readonly read: (reply: Reply) => T
}

const FLAGS = { write: '', 'write-if-full': ' flags=allow-oom', read: ' flags=no-writes' } as const

/**
 * Defines a script. By the line that is put before it, Redis refuses the script before it begins if it cannot be done,
 * and in a cluster if it uses keys of another slot.
 */
export function defineScript<T>({ name, lua, kind = 'write', read }: ScriptDefinition<T>): Script<T> {
  const text = `#!lua${FLAGS[kind]}\n${lua.trim()}\n`
  return { name, text, sha: createHash('sha1').update(text).digest('hex'), read }
}
