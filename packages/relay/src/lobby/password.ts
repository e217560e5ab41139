import { scrypt } from 'node:crypto'
import { promisify } from 'node:util'
import { LobbyRefused } from '../errors.js'

/** 4 MB and some 8 ms: lobby passwords are typed by friends, and attempts are limited besides. */
const COST = { N: 2 ** 12, r: 8, p: 1 }
const BYTES = 32

/** Half of the threads that Node.js has for files, names and digests together. */
const MOST_AT_ONCE = 2
/** Some 1.5 s of work; our choice. */
const MOST_WAITING = 256

const derive = promisify<string, string, number, typeof COST, Buffer>(scrypt)

/** What is kept in place of a password. @throws {LobbyRefused} busy, when too many are asked for. */
export type DigestOf = (password: string, salt: string) => Promise<string>

/**
 * Makes digests, two at once: more would keep everything else that uses threads waiting, such as files and names, and any number
 * of players can name passwords.
 */
export function createDigests(): DigestOf {
  const waiting: (() => void)[] = []
  let underWay = 0

  const turn = async (): Promise<void> => {
    if (underWay < MOST_AT_ONCE) underWay += 1
    else if (waiting.length >= MOST_WAITING) throw new LobbyRefused('busy')
    else await new Promise<void>((resolve) => waiting.push(resolve))
  }
  /** Whoever is next takes over the place. */
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
