import { createHash, timingSafeEqual } from 'node:crypto'
import type { Identify, Identity, Role } from './identity.js'

/** A key that a backend, or who looks at the console, sends as its token. */
export interface ApiKey {
  /** Who uses it, as the log names them. While a key is replaced, the new one has a name of its own. */
  readonly name: string
  readonly role: Exclude<Role, 'player'>
  readonly key: string
}

/** Keeps digests only, and compares each of them in constant time. */
export function createApiKeys(keys: readonly ApiKey[]): Identify {
  const known = keys.map(({ name, role, key }) => ({
    digest: digestOf(key),
    identity: Object.freeze<Identity>({ id: name, roles: [role] }),
  }))
  return (token) => {
    if (known.length === 0) return undefined
    const digest = digestOf(token)
    let found: Identity | undefined
    // All are compared, so that the time tells nothing of which one it was.
    for (const key of known) if (timingSafeEqual(key.digest, digest)) found = key.identity
    return found
  }
}

const digestOf = (key: string) => createHash('sha256').update(key).digest()
