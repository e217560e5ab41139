import { access, constants, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { isWebhookSecret } from '@muster/core/internal'
import type { Config, Resolved } from './config.js'
import { readTextFile, type TextOfFile } from './read-text.js'
import { isRedisUrl, RelativePath, Secret, SecretSource, type SecretUse } from './secret.js'

/** The sources of values outside of the configuration file. */
export interface Outside {
  readonly env: Readonly<Record<string, string | undefined>>
  /** The base folder of relative paths. */
  readonly folder: string
  /** True to read secrets. False: every secret is empty. */
  readonly secrets: boolean
}

interface MissingSecret {
  readonly path: readonly string[]
  readonly message: string
}

/** Maximum size of a secret's file in bytes. */
const LARGEST_SECRET = 65_536

/**
 * Reads the secrets of a configuration and makes its paths absolute. `missing` lists the secrets that cannot be read.
 */
export async function resolveValue<T>(
  value: T,
  outside: Outside,
): Promise<{ value: Resolved<T>; missing: MissingSecret[] }> {
  const missing: MissingSecret[] = []
  const visit = async (part: unknown, path: readonly string[]): Promise<unknown> => {
    if (part instanceof RelativePath) return resolve(outside.folder, part.path)
    if (part instanceof SecretSource) {
      const read = outside.secrets ? await readSecret(part, outside) : { text: '' }
      if (read.wrong === undefined) return new Secret(read.text)
      missing.push({ path, message: read.wrong })
      return new Secret('')
    }
    if (Array.isArray(part)) return Promise.all(part.map((entry, index) => visit(entry, [...path, String(index)])))
    if (typeof part !== 'object' || part === null) return part
    const entries = Object.entries(part).map(async ([key, inner]) => [key, await visit(inner, [...path, key])] as const)
    return Object.fromEntries(await Promise.all(entries))
  }
  return { value: (await visit(value, [])) as Resolved<T>, missing }
}

async function readSecret({ from, name, use }: SecretSource, { env, folder }: Outside): Promise<TextOfFile> {
  const [what, read] =
    from === 'env'
      ? [isVariable(name) ? `the environment variable ${name}` : 'the environment variable', ofEnv(env[name])]
      : [isPath(name) ? `the file ${name}` : 'the file', await readTextFile(resolve(folder, name), LARGEST_SECRET)]
  if (read.wrong !== undefined) return { wrong: `is a secret, but ${what} ${read.wrong}` }
  const text = from === 'file' ? read.text.replace(/\r?\n$/, '') : read.text
  if (text === '') return { wrong: `is a secret, but ${what} is empty` }
  const { isFit, wrong } = FORMS[use]
  return isFit(text) ? { text } : { wrong: `is a secret, but ${what} has ${wrong}` }
}

const UNSENDABLE = 'a space, a line break or another character that is not allowed in a header'

/**
 * The allowed forms of a secret. A signing key may be a sentence. A line break in it is a mistake, e.g. a public key in
 * place of the secret.
 */
const FORMS: Readonly<Record<SecretUse, { readonly isFit: (text: string) => boolean; readonly wrong: string }>> = {
  sent: { isFit: (text) => /^[\x21-\x7e]+$/.test(text), wrong: UNSENDABLE },
  token: { isFit: (text) => /^(token +)?[\x21-\x7e]+$/i.test(text), wrong: UNSENDABLE },
  signs: { isFit: (text) => /^\P{Cc}+$/u.test(text), wrong: 'a line break or another control character' },
  redis: { isFit: isRedisUrl, wrong: 'no URL of a Redis, like rediss://user:password@redis.example.com:6379' },
}

/** Returns true if a name looks like a variable and hardly like a misplaced secret. Messages show only such names. */
export const isVariable = (name: string): boolean =>
  /^[A-Z]{1,20}$|^[A-Z][A-Z\d]*(_[A-Z\d]+)+$/.test(name) && name.length <= 64
const isPath = (name: string) => /[./\\]/.test(name) && name.length <= 200

const ofEnv = (text: string | undefined): TextOfFile => (text === undefined ? { wrong: 'is not set' } : { text })

/** Returns why a file cannot be read; undefined if it can. */
export async function unreadable(path: string): Promise<string | undefined> {
  try {
    await access(path, constants.R_OK)
    return (await stat(path)).isDirectory() ? 'is a folder: name the file in it' : undefined
  } catch {
    return 'cannot be read: the file does not exist, or this user may not read it'
  }
}

/** Minimum number of characters of a key, and of a secret that signs. */
const KEY = 16
const SIGNING = 32

/** Finds secrets that are too short or malformed, and keys that are equal. The messages contain no secret. */
export function weakSecretsIn(config: Config): MissingSecret[] {
  const { auth, streamTokens, telemetry, results, servers, sources, pools } = config
  const keys = auth.keys.map(({ key }) => key.reveal())
  const enrolments = pools.flatMap(({ enrol }, pool) =>
    enrol.map(({ key }, index) => ({
      key: key.reveal(),
      path: ['pools', String(pool), 'enrol', String(index), 'key'],
    })),
  )
  const signingSecrets = [
    { secret: auth.shared?.key.reveal(), path: ['auth', 'shared', 'key'] },
    { secret: auth.jwt?.secret?.reveal(), path: ['auth', 'jwt', 'secret'] },
    { secret: streamTokens.key?.reveal(), path: ['streamTokens', 'key'] },
    { secret: servers?.secret.reveal(), path: ['servers', 'secret'] },
    ...enrolments.map(({ key, path }) => ({ secret: key, path })),
  ]
  const metricsKey = { secret: telemetry.metrics.key?.reveal(), path: ['telemetry', 'metrics', 'key'] }
  const short = (secret: string | undefined, fewest: number, path: readonly string[]): MissingSecret[] =>
    secret === undefined || secret.length >= fewest
      ? []
      : [{ path, message: `is too short to be a secret: it has ${secret.length} characters, and needs ${fewest}` }]
  return [
    ...keys.flatMap((key, index) => short(key, KEY, ['auth', 'keys', String(index), 'key'])),
    ...keys.flatMap((key, index) => {
      const first = keys.indexOf(key)
      const message = `is the same as that of auth.keys.${first}: Muster could not tell these callers apart`
      return first === index ? [] : [{ path: ['auth', 'keys', String(index), 'key'], message }]
    }),
    ...short(auth.shared?.token.reveal(), KEY, ['auth', 'shared', 'token']),
    ...(auth.shared !== undefined && keys.includes(auth.shared.token.reveal())
      ? [
          {
            path: ['auth', 'shared', 'token'],
            message: 'is also in auth.keys: every player would count as that caller',
          },
        ]
      : []),
    ...short(metricsKey.secret, KEY, metricsKey.path),
    ...[...signingSecrets, metricsKey].flatMap(({ secret, path }) =>
      secret !== undefined && secret === auth.shared?.token.reveal()
        ? [{ path, message: 'is the same as auth.shared.token, which everybody knows who has the game' }]
        : [],
    ),
    ...signingSecrets.flatMap(({ secret, path }) => short(secret, SIGNING, path)),
    ...enrolments.flatMap(({ key, path }, index) => {
      if (keys.includes(key)) return [{ path, message: 'is also in auth.keys: a server would count as that caller' }]
      const first = enrolments.findIndex((one) => one.key === key)
      const message = `is the same as ${enrolments[first]?.path.join('.')}: each entry needs a key of its own`
      return first === index ? [] : [{ path, message }]
    }),
    ...unfit(results?.secret, ['results', 'secret']),
    ...Object.entries(sources).flatMap(([name, { secret }]) => unfit(secret, ['sources', name, 'secret'])),
  ]
}

/** Returns a finding if a secret cannot sign as Standard Webhooks require. */
const unfit = (secret: Secret | undefined, path: readonly string[]): MissingSecret[] =>
  secret === undefined || isWebhookSecret(secret.reveal())
    ? []
    : [{ path, message: 'must be whsec_ followed by at least 24 bytes in base64' }]
