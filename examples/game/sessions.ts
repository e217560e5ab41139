/** Identifies callers: a token signed by the backend contains a random player id. A real game has accounts instead. */
import { createHmac, randomBytes, randomInt, timingSafeEqual } from 'node:crypto'

const COLORS = 'amber azure coral crimson golden indigo ivory jade lilac olive pearl ruby silver teal violet'.split(' ')
const ANIMALS = 'badger crane falcon fox heron ibex lynx marten otter owl puffin raven seal stoat wolf'.split(' ')

export interface Sessions {
  /** Creates the token of a new player. @param kind the beginning of the player's id */
  readonly begin: (kind?: 'bot') => string
  /** Returns the player of a token; undefined for an invalid token. */
  readonly playerOf: (token: string | undefined) => string | undefined
}

const any = (words: readonly string[]) => words[randomInt(words.length)] as string

export function createSessions(): Sessions {
  const key = randomBytes(32)
  const macOf = (id: string) => createHmac('sha256', key).update(id).digest('base64url')
  return {
    begin: (kind) => {
      const id = `${kind ?? any(COLORS)}-${any(ANIMALS)}-${randomBytes(4).toString('hex')}`
      return `${id}~${macOf(id)}`
    },
    playerOf: (token) => {
      const [id = '', mac = ''] = token?.split('~') ?? []
      const [wanted, given] = [Buffer.from(macOf(id)), Buffer.from(mac)]
      return given.length === wanted.length && timingSafeEqual(given, wanted) ? id : undefined
    },
  }
}

export const isBot = (playerId: string): boolean => playerId.startsWith('bot-')
