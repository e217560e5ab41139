import { inspect } from 'node:util'

/** What is shown in place of a secret. */
const HIDDEN = '[secret]'

/**
 * A secret that was read from the environment or from a file. It shows nothing of itself: in a template, in JSON, in
 * `console.log` and in a log line it is `[secret]`. Only `reveal` returns the text.
 */
export class Secret {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  /** The text itself: only to send or compare it, never for a message. */
  reveal(): string {
    return this.#text
  }

  toString(): string {
    return HIDDEN
  }

  toJSON(): string {
    return HIDDEN
  }

  [inspect.custom](): string {
    return HIDDEN
  }
}

export type SecretUse = 'sent' | 'token' | 'signs'

/** Where a secret is: in a variable of the environment, or in a file. */
export class SecretSource {
  readonly from: 'env' | 'file'
  /** The variable's name, or the file's path. */
  readonly name: string
  /**
   * A secret that is sent is part of a header, which takes few letters; the token of the service may have the word
   * `token` before it, as dashboards show it; one that signs never leaves the process.
   */
  readonly use: SecretUse

  constructor(from: 'env' | 'file', name: string, use: SecretUse) {
    this.from = from
    this.name = name
    this.use = use
  }
}

/** A path as the file writes it: relative to the folder of the file. */
export class RelativePath {
  readonly path: string

  constructor(path: string) {
    this.path = path
  }
}
