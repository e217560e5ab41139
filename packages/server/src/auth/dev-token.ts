import { createHash, timingSafeEqual } from 'node:crypto'
import type { Identify } from './identity.js'

/**
 * The token for everything, of `muster dev`: by itself a backend that may also operate the console; followed by a colon
 * and an id, that player.
 */
export function createDevToken(token: string): Identify {
  const secret = digestOf(token)
  return (given) => {
    const colon = given.indexOf(':')
    const [first, player] = colon === -1 ? [given, ''] : [given.slice(0, colon), given.slice(colon + 1)]
    if (!timingSafeEqual(digestOf(first), secret)) return undefined
    if (colon === -1) return { id: 'dev', roles: ['backend', 'deploy'] }
    return player === '' ? undefined : { id: player, roles: ['player'] }
  }
}

const digestOf = (text: string) => createHash('sha256').update(text).digest()
