import type { Config } from './config.js'
import type { Missing } from './outside.js'

/** Fewest characters of a key, and of a secret that signs. */
const KEY = 16
const SIGNING = 32

/** Finds secrets that are too short to be any, and keys that are the same. No secret is in the messages. */
export function weakSecretsIn({ auth, streamTokens }: Config): Missing[] {
  const keys = auth.keys.map(({ key }) => key.reveal())
  const short = (secret: string | undefined, fewest: number, path: readonly string[]): Missing[] =>
    secret === undefined || secret.length >= fewest
      ? []
      : [{ path, message: `is too short to be a secret: it has ${secret.length} characters, and needs ${fewest}` }]
  return [
    ...keys.flatMap((key, index) => short(key, KEY, ['auth', 'keys', String(index), 'key'])),
    ...keys.flatMap((key, index) => {
      const first = keys.indexOf(key)
      const message = `is the same as that of auth.keys.${first}: nobody could tell who calls`
      return first === index ? [] : [{ path: ['auth', 'keys', String(index), 'key'], message }]
    }),
    ...short(auth.jwt?.secret?.reveal(), SIGNING, ['auth', 'jwt', 'secret']),
    ...short(streamTokens.key?.reveal(), SIGNING, ['streamTokens', 'key']),
  ]
}
