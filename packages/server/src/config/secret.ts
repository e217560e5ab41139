import { inspect } from 'node:util'

/** The text that is shown instead of a secret. */
const HIDDEN = '[secret]'

/**
 * A secret from the environment or a file. It never prints its value: in templates, JSON, `console.log` and log lines
 * it is `[secret]`. Only `reveal` returns the value.
 */
export class Secret {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  /** The value. Use it only to send or compare it, never in a message. */
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

export type SecretUse = 'sent' | 'token' | 'signs' | 'redis'

/** Returns true for a URL that the client of Redis accepts: its path is the number of a database, if it has one. */
export function isRedisUrl(text: string): boolean {
  if (!/^rediss?:\/\/[\x21-\x7e]+$/i.test(text) || !URL.canParse(text)) return false
  const { pathname, username, password } = new URL(text)
  return /^\/?\d*$/.test(pathname) && isPercentEncoded(username) && isPercentEncoded(password)
}

function isPercentEncoded(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

/** The source of a secret: an environment variable or a file. */
export class SecretSource {
  readonly from: 'env' | 'file'
  /** The variable's name, or the file's path. */
  readonly name: string
  /**
   * How the secret is used. A secret that is sent becomes part of a header, which allows few characters. The service's
   * token may begin with the word `token`, as dashboards show it. A secret that signs never leaves the process. The URL
   * of a Redis may contain a password.
   */
  readonly use: SecretUse

  constructor(from: 'env' | 'file', name: string, use: SecretUse) {
    this.from = from
    this.name = name
    this.use = use
  }
}

/** A path as written in the file: relative to the folder of the file. */
export class RelativePath {
  readonly path: string

  constructor(path: string) {
    this.path = path
  }
}
