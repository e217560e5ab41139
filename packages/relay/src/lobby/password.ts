import { scrypt } from 'node:crypto'
import { promisify } from 'node:util'

/** 4 MB and some 8 ms: lobby passwords are typed by friends, and attempts are limited besides. */
const COST = { N: 2 ** 12, r: 8, p: 1 }
const BYTES = 32

const derive = promisify<string, string, number, typeof COST, Buffer>(scrypt)

/** What is kept in place of a password. */
export const digestOf = async (password: string, salt: string): Promise<string> =>
  (await derive(password.normalize('NFKC'), salt, BYTES, COST)).toString('base64url')
