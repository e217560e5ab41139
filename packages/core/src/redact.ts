import { isIPv6 } from 'node:net'
import { addressKeys, secretFlags, secretKeys } from './api/secrets.js'

/** Keeps secrets, players' addresses and webhook URLs out of messages, logs and events. Pure. */

/** Webhook calls are not signed, so their URLs carry what makes them unguessable. */
const webhookKeys = ['url', 'webhook_url']
const hiddenKeys = new Set([...secretKeys, ...addressKeys, ...webhookKeys])

/** Whether what stands under this key must not be shown: a secret, a player's address or a webhook's URL. */
export const isHidden = (key: string) => hiddenKeys.has(key)

/**
 * What must not be shown of an input, as text: whatever stands under the key of a secret, an address or a webhook,
 * and the `value` beside a true `is_secret` or `is_hidden`.
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
/** Not after a letter or digit, so that Some::Name is none. */
const ipv6Like = /(?<![0-9a-z])[0-9a-f]*:[0-9a-f:.]*:[0-9a-f:.]*/gi

/** `text` without the given secrets, in any letter case, plain, JSON-escaped or percent-encoded, and without IP addresses. */
export function scrub(text: string, secrets: readonly string[] = []): string {
  return withoutAddresses(withoutSecrets(text, secrets))
}

function withoutSecrets(text: string, secrets: readonly string[]): string {
  const forms = new Set(secrets.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), percentEncoded(secret)]))
  forms.delete('')
  if (forms.size === 0) return text
  // One pass with the longest first: no secret survives as the rest of a shorter one, and marks are not scrubbed again.
  const longestFirst = [...forms].toSorted((a, b) => b.length - a.length)
  return text.replace(new RegExp(longestFirst.map(literal).join('|'), 'gi'), '[redacted]')
}

/** A lone surrogate has no percent-encoding; such a text is searched for as it is. */
const percentEncoded = (text: string) => (/\p{Surrogate}/u.test(text) ? text : encodeURIComponent(text))

/** A pattern that matches exactly this text. */
const literal = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')

/** An address has 45 characters at most; of what is longer and made of the same characters, any part may be one. */
const LONGEST_CANDIDATE = 100

/** Without the colon before it and the full stops and the single colon after it, which belong to the sentence. */
const withoutPunctuation = (candidate: string) => candidate.replace(/^:(?!:)/, '').replace(/(?:\.|(?<!:):)+$/, '')

function withoutAddresses(text: string): string {
  const rest = text.replace(ipv6Like, (candidate) => {
    if (candidate.length > LONGEST_CANDIDATE) return '[address]'
    const trimmed = withoutPunctuation(candidate)
    return isIPv6(trimmed) ? candidate.replace(trimmed, '[address]') : candidate
  })
  return rest.replace(ipv4, '[address]')
}
