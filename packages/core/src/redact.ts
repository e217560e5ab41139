import { isIPv6 } from 'node:net'

/** Removes secrets, players' addresses and webhook URLs from messages, logs and events. Pure. */

/** Keys whose value is a secret wherever it appears, in a request or a response. */
export const secretKeys: readonly string[] = [
  'secret_access_key',
  'private_token',
  'authorization',
  'authorization_token',
]

/** A true value under one of these keys marks the adjacent `value` as a secret. */
export const secretFlags: readonly string[] = ['is_secret', 'is_hidden']

/**
 * Keys that hold players' addresses. They are no secrets to the service, but must not be logged or shown to anyone
 * else.
 */
export const addressKeys: readonly string[] = ['ip_address', 'ip', 'user_ip', 'ip_list']

/** Webhook calls are not signed. Their URLs contain the secret that makes them unguessable. */
const webhookKeys = ['url', 'webhook_url']
const hiddenKeys = new Set([...secretKeys, ...addressKeys, ...webhookKeys])

/** True if a key's value must not be shown: a secret, a player's address or a webhook's URL. */
export const isHidden = (key: string) => hiddenKeys.has(key)

/**
 * Returns the strings of an input that must not be shown. These are the values under keys of secrets, addresses and
 * webhooks, and the `value` next to a true `is_secret` or `is_hidden`.
 */
export function secretsIn(input: unknown): string[] {
  const found: string[] = []
  const visit = (value: unknown, hidden: boolean): void => {
    if (typeof value === 'string' || typeof value === 'number') {
      if (hidden) found.push(String(value))
    } else if (Array.isArray(value)) {
      for (const item of value) visit(item, hidden)
    } else if (typeof value === 'object' && value !== null) {
      const entries = Object.entries(value)
      const flagged = entries.some(([key, flag]) => flag === true && secretFlags.includes(key))
      for (const [key, item] of entries) visit(item, hidden || hiddenKeys.has(key) || (flagged && key === 'value'))
    }
  }
  visit(input, false)
  return found
}

const ipv4 = /(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?!\d|\.\d)/g
/** Candidates for IPv6 addresses. They do not follow a letter or digit, so that `Some::Name` does not match. */
const ipv6Like = /(?<![0-9a-z])[0-9a-f]*:[0-9a-f:.]*:[0-9a-f:.]*/gi

/**
 * Returns `text` without IP addresses and without the given secrets, whether plain, JSON-escaped or percent-encoded.
 * Letter case is ignored for secrets of up to 512 characters.
 * @param own addresses that are kept, e.g. those of this machine.
 */
export function scrub(text: string, secrets: readonly string[] = [], own: ReadonlySet<string> = NONE): string {
  return withoutAddresses(withoutSecrets(text, secrets), own)
}

const NONE: ReadonlySet<string> = new Set()

/**
 * Returns the end of `text`, at most `most` characters, without IP addresses and the given secrets. No part of an
 * address or secret remains at the cut.
 */
export function scrubEnd(text: string, secrets: readonly string[], most: number): string {
  if (text.length <= 2 * most) return scrub(text, secrets).slice(-most)
  const end = text.slice(-2 * most)
  const lower = end.toLowerCase()
  const rests = Array.from(formsOf(secrets), (form) => restOf(form.toLowerCase(), lower))
  const address = /^[0-9a-f:.]*/.exec(lower)?.[0].length ?? 0
  return scrub(end.slice(Math.max(address, ...rests)), secrets).slice(-most)
}

/** Returns how many characters at the start of the text are the end of the secret. The whole secret does not count. */
function restOf(secret: string, text: string): number {
  const head = text.slice(0, 8)
  // A match longer than `head` begins with `head`, so only the few places of `head` in the secret are compared.
  for (let at = secret.indexOf(head, 1); at !== -1; at = secret.indexOf(head, at + 1))
    if (text.startsWith(secret.slice(at))) return secret.length - at
  for (let length = Math.min(head.length, secret.length) - 1; length > 0; length -= 1)
    if (secret.endsWith(head.slice(0, length))) return length
  return 0
}

/** Returns the secrets in all their forms: plain, JSON-escaped and percent-encoded. */
function formsOf(secrets: readonly string[]): Set<string> {
  const forms = new Set(
    secrets.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), percentEncoded(secret)]),
  )
  forms.delete('')
  return forms
}

function withoutSecrets(text: string, secrets: readonly string[]): string {
  const forms = formsOf(secrets)
  if (forms.size === 0) return text
  // Replace all in one pass, the longest first. Thus no secret remains in part after a shorter one is removed, and
  // `[redacted]` is not replaced again.
  const longestFirst = [...forms].toSorted((a, b) => b.length - a.length)
  const long = longestFirst.filter(({ length }) => length > LONGEST_PATTERN)
  const rest = long.reduce((left, form) => left.replaceAll(form, '[redacted]'), text)
  const short = longestFirst.slice(long.length)
  return short.length === 0 ? rest : rest.replace(new RegExp(short.map(pattern).join('|'), 'giu'), '[redacted]')
}

/**
 * Returns the percent-encoded text. A string with a lone surrogate has no percent-encoding and is returned unchanged.
 */
const percentEncoded = (text: string) => (/\p{Surrogate}/u.test(text) ? text : encodeURIComponent(text))

/**
 * Maximum length of a secret that is removed only if it stands alone. Such a short secret occurs in many words by
 * chance, and is easily guessed. A longer secret is removed anywhere, even inside a word.
 */
const SHORT = 3

/**
 * Maximum length of a form that is removed regardless of letter case. A longer form is removed literally, because large
 * patterns fail. 64 variables of 4 KiB take seconds. A form of some 20,000 characters overflows, with an error whose
 * message contains the secret.
 */
const LONGEST_PATTERN = 512

const pattern = (form: string) =>
  form.length > SHORT ? literal(form) : `(?<![\\p{L}\\p{N}_])${literal(form)}(?![\\p{L}\\p{N}_])`

/** Returns a pattern that matches exactly this text. */
const literal = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')

/**
 * Minimum length of a run of address characters that is removed whole. An address has at most 45 characters, so any
 * part of a longer run may be one.
 */
const LONGEST_CANDIDATE = 100

/** Removes the sentence's punctuation: a colon in front, and full stops and a single colon at the end. */
const withoutPunctuation = (candidate: string) => candidate.replace(/^:(?!:)/, '').replace(/(?:\.|(?<!:):)+$/, '')

function withoutAddresses(text: string, own: ReadonlySet<string>): string {
  const rest = text.replace(ipv6Like, (candidate) => {
    if (candidate.length > LONGEST_CANDIDATE) return '[address]'
    const trimmed = withoutPunctuation(candidate)
    return isIPv6(trimmed) && !own.has(trimmed) ? candidate.replace(trimmed, '[address]') : candidate
  })
  return rest.replace(ipv4, (address) => (own.has(address) ? address : '[address]'))
}

/** Returns the message of anything that was thrown. It may contain secrets: see `scrub`. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Returns a function that reports an error that was handled by a process warning, e.g. `a tick failed: …`. */
export const warnThat = (what: string) => (error: unknown) =>
  process.emitWarning(`${what} failed: ${scrub(String(error))}`, 'MusterWarning')
