import { isHidden, scrub } from '../redact.js'

/** Longer texts are described by their length, because they are documents or keys. */
const LONGEST = 40

/** Words in the name of a field that may hold a secret, an address or a webhook's URL. */
const HIDING = new Set(
  (
    'secret secrets token tokens password passwords passphrase code credential credentials authorization cookie ' +
    'private apikey key keys url urls uri webhook webhooks env envs environment variables ip ips address addresses'
  ).split(' '),
)

/** `hiddenEnvironment`, `webhook_url` and `IP` by their words. */
const wordsOf = (key: string) =>
  key
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/)

/** Whether the field of this name may hold a secret, an address or a webhook's URL, which no message may show. */
export const mayHoldSecret = (key: string): boolean => isHidden(key) || wordsOf(key).some((word) => HIDING.has(word))

/**
 * `, got 70000` for a message about a value that is wrong; only its kind where it may be a secret. A text in the wrong
 * place may be anything, so only short ones in a place for texts are shown.
 * @param path the names on the way to it.
 * @param isOfType whether it is of the type that is wanted, and wrong in another way.
 */
export function gotWords(path: readonly string[], value: unknown, isOfType: boolean): string {
  if (value === undefined) return ', got nothing'
  if (value === null) return ', got null'
  if (path.some(mayHoldSecret)) return isOfType ? '' : `, got ${kindOf(value)}`
  if (typeof value === 'number' || typeof value === 'boolean') return `, got ${value}`
  if (typeof value !== 'string' || !isOfType) return `, got ${kindOf(value)}`
  // What names a host or holds credentials is shown to nobody.
  if (/:\/\/|@|\?/.test(value) || value.length > LONGEST) return `, got a text of ${value.length} characters`
  return `, got ${JSON.stringify(scrub(value))}`
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  switch (typeof value) {
    case 'string':
      return 'a text'
    case 'number':
      return 'a number'
    case 'boolean':
      return 'true or false'
    case 'function':
      return 'a function'
    case 'object':
      return 'an object'
    default:
      return `a ${typeof value}`
  }
}
