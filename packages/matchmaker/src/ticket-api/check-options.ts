import { InvalidInput } from '@muster/core'
import { z } from 'zod'
import { read } from '@muster/core/validation'
import { profileSchema } from './profiles/profile.js'
import type { TicketApiOptions } from './options.js'

const callable = z.custom((value) => typeof value === 'function', 'must be a function')
const count = z.int().min(1)
const attempts = z.strictObject({ limit: z.number().min(1), windowMs: z.number().positive() }).nullable()

const profileOptions = z.strictObject({
  resolve: callable,
  cacheMs: z.number().min(0).optional(),
  cacheSize: count.optional(),
  timeoutMs: z.number().positive().optional(),
  batchSize: count.optional(),
  whenFailed: z.union([z.literal('refuse'), profileSchema], "must be 'refuse' or a profile").optional(),
})

const STORE_METHODS = ['find', 'gathering', 'create', 'replace', 'size'] as const
const store = z.custom(
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    STORE_METHODS.every((name) => typeof Reflect.get(value, name) === 'function'),
  `must have ${STORE_METHODS.join(', ')}`,
)

const limitStore = z.custom(
  (value) => typeof value === 'object' && value !== null && typeof Reflect.get(value, 'attempts') === 'function',
  'must have attempts',
)

const ticketLog = z.custom(
  (value) => typeof value === 'object' && value !== null && typeof Reflect.get(value, 'records') === 'function',
  'must be made by openStore',
)

const longEnough = (key: unknown) =>
  (typeof key === 'string' || key instanceof Uint8Array) && Buffer.byteLength(key) >= 32
const streamTokens = z.strictObject({
  key: z.custom(longEnough, 'must have at least 32 characters or bytes').optional(),
  lifetimeMs: z
    .number()
    .min(1000)
    .max(24 * 3600 * 1000)
    .optional(),
})

const schema = z.strictObject({
  authenticate: callable,
  profile: z.union([callable, profileOptions], 'must be a function, or options with one under resolve').optional(),
  basePath: z
    .string()
    .regex(/^(\/[^/?#]+)*$/, "must be empty, or begin with '/' and not end with it")
    .optional(),
  address: callable.optional(),
  beacons: callable.optional(),
  locate: callable.optional(),
  inspect: z.boolean().optional(),
  limits: z
    .strictObject({
      perCaller: attempts.optional(),
      perAddress: attempts.optional(),
      waitsPerCaller: count.optional(),
      waits: count.optional(),
      groups: count.optional(),
      bodyBytes: count.optional(),
      backendBodyBytes: count.optional(),
      bodies: z
        .strictObject({
          timeoutMs: z.number().min(1).optional(),
          perAddress: count.optional(),
          inAll: count.optional(),
        })
        .optional(),
    })
    .optional(),
  limitStore: limitStore.optional(),
  groupIdleMs: z.number().positive().optional(),
  streamTokens: streamTokens.optional(),
  groups: store.optional(),
  ticketLog: ticketLog.optional(),
  lobbies: callable.optional(),
  cors: z.unknown().optional(),
  onError: callable.optional(),
  clock: z.unknown().optional(),
  random: callable.optional(),
})

/**
 * Checks the options of the ticket API.
 * @throws {InvalidInput} naming the option and the value.
 */
export function checkOptions(options: TicketApiOptions): void {
  const refuse = (field: string, message: string) => new InvalidInput(`option ${message}`, { field })
  read(schema, options, refuse)
  if (options.groups !== undefined && options.ticketLog !== undefined)
    throw refuse('ticketLog', 'ticketLog: must not be given with groups, which keeps them elsewhere')
}
