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

  /** The text itself: for whoever sends it or compares it, never for a message. */
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
