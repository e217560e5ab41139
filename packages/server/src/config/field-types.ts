import { z } from 'zod'
import { isRedisUrl, RelativePath, SecretSource, type SecretUse } from './secret.js'

/** Field types that several sections of the configuration share. */

export const text = z.string().min(1).max(1000)
/** @param what the error message for a string that does not match. */
export const textLike = (form: RegExp, what: string) => z.string().regex(form, what)
export const flag = (byDefault: boolean) => z.boolean().default(byDefault)
export const milliseconds = z
  .number()
  .min(0)
  .max(2 ** 31 - 1)
/** Milliseconds above 0. */
export const duration = milliseconds.positive()
export const count = z.int().min(1)

/** A section of the file. If the file omits the section, its fields have their defaults. */
export const section = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.strictObject(shape).prefault({} as z.input<z.ZodObject<Shape, z.core.$strict>>)

/** A section whose feature is off unless the file has the section. */
export const optionalSection = <Shape extends z.ZodRawShape>(shape: Shape) => z.strictObject(shape).optional()

/** A value, or a word that represents another value. @param what the error message for anything else. */
export const orWord = <Value, Word extends string, Meant>(
  value: z.ZodType<Value, Value>,
  word: Word,
  meant: Meant,
  what: string,
) =>
  z
    .union([value, z.literal(word)], { error: `must be ${what}, or ${word}` })
    .transform((given): Value | Meant => (given === word ? meant : (given as Value)))

/** A whole number from 1, or `unlimited`, which is Infinity. */
export const unlimitedOr = () => orWord(count, 'unlimited', Infinity, 'a whole number from 1')

/** A whole number from 1, or `unlimited`, which is null. */
export const unboundedOr = () => orWord(count, 'unlimited', null, 'a whole number from 1')

/** Attempts per time window, or `unlimited`, which is null. */
export const attempts = orWord(
  z.strictObject({
    limit: z
      .number()
      .min(1)
      .describe(
        'Number of attempts allowed at once. After that, one more is allowed every `windowMs / limit` milliseconds.',
      ),
    windowMs: duration.describe('Milliseconds of the window.'),
  }),
  'unlimited',
  null,
  '{ limit, windowMs }',
)

/** Returns true for a URL without user and password, which are secrets. */
const withoutCredentials = (given: string) => URL.canParse(given) && !/^[a-z]+:\/\/[^/?#]*@/i.test(given)
const CREDENTIALS = 'must have neither user nor password: they are secrets'

export const httpUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
  .refine(withoutCredentials, CREDENTIALS)

/** A URL to which paths are appended. */
export const baseUrl = httpUrl.refine((given) => !/[?#]/.test(given), 'must have neither query nor fragment')

const LITERAL =
  'is a secret, which must not be in this file: write { env: NAME_OF_A_VARIABLE } or { file: path/of/a/file }'

const source = {
  env: textLike(/^[A-Za-z_]\w*$/, 'must be the name of an environment variable')
    .optional()
    .describe('Name of the environment variable that holds the secret.'),
  file: text
    .optional()
    .describe(
      'Path of a file that holds the secret alone, relative to the folder of this file. A last newline is cut.',
    ),
}

const secretThat = (use: SecretUse) =>
  z
    .strictObject(source, {
      error: (issue) => (issue.code === 'invalid_type' && issue.input !== undefined ? LITERAL : undefined),
    })
    .refine(({ env, file }) => (env === undefined) !== (file === undefined), 'must have either env or file')
    .meta({ oneOf: [{ required: ['env'] }, { required: ['file'] }] })
    .transform(({ env, file = '' }) => new SecretSource(env === undefined ? 'file' : 'env', env ?? file, use))

/**
 * The place of a secret: an environment variable or a file. A plain string is rejected, because configuration files are
 * copied, shown and committed.
 */
export const secret = secretThat('sent')

/** The place of the service's token. The token may begin with the word `token`. */
export const serviceToken = secretThat('token')

/** The place of a secret that signs and is never sent. */
export const signingSecret = secretThat('signs')

/** The URL of a Redis, or the place of such a URL that contains a password and is therefore a secret. */
export const redisUrl = () =>
  z.union([
    z
      .url({ protocol: /^rediss?$/, error: REDIS_URL })
      .refine(withoutCredentials, `${CREDENTIALS}; ${HOW}`)
      .refine(isRedisUrl, `${REDIS_URL}, whose path is the number of a database`),
    secretThat('redis'),
  ])

const REDIS_URL = 'must be a redis or rediss URL'

const HOW = 'write { env: NAME_OF_A_VARIABLE } or { file: path/of/a/file } in place of the whole URL'

export const path = text.transform((given) => new RelativePath(given))

export const command = z
  .array(text)
  .min(1)
  .max(100)
  .describe('The program and its arguments. It runs without a shell, in the folder of this file.')

/** `host` or `host:port`, as in a Host header. */
export const hostName = textLike(
  /^(\[[\da-f:.]+\]|[\w.-]+)(:\d{1,5})?$/i,
  'must be a host name, optionally with a port',
)

/** The address of a listener: `host:port`, with IPv6 addresses in brackets. */
export const hostAndPort = textLike(
  /^(\[[\da-f:.]+\]|[\w.-]{1,253}):\d{1,5}$/i,
  // An IP address would be hidden in the message.
  'must be an address and a port, e.g. localhost:9090',
)
  .refine((given) => Number(given.slice(given.lastIndexOf(':') + 1)) <= 65_535, 'must have a port of at most 65535')
  .transform((given) => {
    const colon = given.lastIndexOf(':')
    return { host: given.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(given.slice(colon + 1)) }
  })
