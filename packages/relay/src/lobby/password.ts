import { scrypt } from 'node:crypto'
import { promisify } from 'node:util'
import { LobbyRefused } from '../errors.js'

/** Takes 4 MB and about 8 ms. That suffices for lobby passwords, which friends type and whose attempts are limited. */
const COST = { N: 2 ** 12, r: 8, p: 1 }
const BYTES = 32

/** Half of the threads that Node.js has for files, names and digests together. */
const MOST_AT_ONCE = 2
/** About 1.5 s of work (our choice). */
const MOST_WAITING = 256

const derive = promisify<string, string, number, typeof COST, Buffer>(scrypt)

/**
 * Makes the digest that is stored in place of a password.
 * @throws {LobbyRefused} `busy` when too many digests are waiting.
 */
export type DigestOf = (password: string, salt: string) => Promise<string>

/**
 * Computes digests, two at once. More would occupy the threads that files and name lookups need, and any number of
 * players can send passwords.
 */
export function createDigests(): DigestOf {
  const waiting: (() => void)[] = []
  let underWay = 0

  const turn = async (): Promise<void> => {
    if (underWay < MOST_AT_ONCE) underWay += 1
    else if (waiting.length >= MOST_WAITING) throw new LobbyRefused('busy')
    else await new Promise<void>((resolve) => waiting.push(resolve))
  }
  /** Passes the place to the next waiting call, or frees it. */
  const over = () => {
    const next = waiting.shift()
    if (next === undefined) underWay -= 1
    else next()
  }

  return async (password, salt) => {
    await turn()
    try {
      return (await derive(password.normalize('NFKC'), salt, BYTES, COST)).toString('base64url')
    } finally {
      over()
    }
  }
}
