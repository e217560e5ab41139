import { createHash } from 'node:crypto'

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

export interface ScriptDefinition<T> {
  readonly name: string
  /** The script in Lua. It checks everything before its first write, so that it is done completely or not at all. */
  readonly lua: string
  /** Whether it only reads, and so works while Redis is full or takes no writes. Default false. */
  readonly readOnly?: boolean
  /** Reads the answer. */
  readonly read: (reply: Reply) => T
}

/**
 * Defines a script. With the first line that is put before it, Redis refuses the script before it begins if Redis is
 * full or read-only, and in a cluster if it uses keys of another slot.
 */
export function defineScript<T>({ name, lua, readOnly = false, read }: ScriptDefinition<T>): Script<T> {
  const text = `#!lua${readOnly ? ' flags=no-writes' : ''}\n${lua.trim()}\n`
  return { name, text, sha: createHash('sha1').update(text).digest('hex'), read }
}
