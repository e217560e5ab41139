import { type Fault, fetchedUrl, validateAll } from '@muster/core/internal'
import {
  type Browser,
  browserSchema,
  poolSchema,
  poolSchemaWith,
  type ServerPool,
  sourceName,
} from '@muster/matchmaker/internal'
import { z } from 'zod'
import {
  baseUrl,
  command,
  count,
  duration,
  milliseconds,
  optionalSection,
  path,
  secret,
  section,
  signingSecret,
} from './field-types.js'
import type { SecretSource } from './secret.js'

// Game servers that outlive a match: docs/servers.md.

/**
 * A pool as the file states it. The type is written out, because the inferred type names a package that is no
 * dependency of this one.
 */
export interface ConfiguredPool extends Omit<ServerPool, 'enrol'> {
  /** The keys of machines that enrol in the pool. Each is the place of a secret. */
  readonly enrol: readonly (Omit<ServerPool['enrol'][number], 'key'> & { readonly key: SecretSource })[]
}
/** The server browser as the file states it. It has a type of its own for the same reason as `ConfiguredPool`. */
export interface ConfiguredBrowser extends Browser {}

const pool: z.ZodType<ConfiguredPool> = poolSchemaWith(secret)
const definedBrowser: z.ZodType<ConfiguredBrowser> = browserSchema

export const pools = z
  .array(pool)
  .max(100)
  .default([])
  .describe('Pools of game servers that outlive a match, which queues name in place of `deploy`. Default: none.')

/** The protocols of a deployment's ports. */
const PROTOCOLS = ['UDP', 'TCP', 'TCP/UDP', 'HTTP', 'HTTPS', 'WS', 'WSS'] as const
const port = z.int().min(1).max(65_535)

const launch = z.strictObject({
  command: command.describe(
    'The program and its arguments, without a shell. {application} and {version} in an argument are those of the pool.',
  ),
  folder: path
    .prefault('.')
    .describe('The working directory, relative to the folder of this file. Default: that folder.'),
  state: path
    .prefault('muster-servers')
    .describe(
      'Folder for what has to be known of them after a restart, and for what they write, relative to the folder of ' +
        'this file. Default: muster-servers.',
    ),
  ports: z
    .record(z.string().regex(/^[\w-]{1,64}$/, 'must be 1 to 64 of A–Z, a–z, 0–9, _ and -'), z.enum(PROTOCOLS))
    .default({ game: 'UDP' })
    .describe('Name and protocol of each port that a server gets. Default: one UDP port called game.'),
  portRange: z
    .strictObject({ from: port.describe('The first port.'), to: port.describe('The last port.') })
    .refine(({ from, to }) => from <= to, 'must not end before it begins')
    .default({ from: 20_000, to: 29_999 })
    .describe('From where ports are drawn, both included. Default: 20000 to 29999.'),
  host: z
    .string()
    .min(1)
    .max(253)
    .default('127.0.0.1')
    .describe('Name or address at which players connect. Default: 127.0.0.1, this machine alone.'),
  max: count.max(1000).default(10).describe('Most servers at once.'),
  graceMs: milliseconds
    .max(15_000)
    .default(10_000)
    .describe('Milliseconds from SIGTERM to SIGKILL when one is stopped.'),
})

/** The allowed fields for each kind of source, besides the field that names the kind. */
const FIELDS = { allocator: ['secret', 'timeoutMs', 'lagMs', 'capacity'], launch: [] } as const

const sourceSchema = z
  .strictObject({
    allocator: baseUrl.optional().describe('URL below which /allocate, /poll and /stop take a signed POST.'),
    secret: secret
      .optional()
      .describe('Secret that signs each POST, as Standard Webhooks describe: `whsec_` and base64.'),
    timeoutMs: duration
      .min(1)
      .max(30_000)
      .optional()
      .describe('Milliseconds that a call may take. Default, and at most: 30,000, a poll 10,000, a stop 20,000.'),
    lagMs: milliseconds
      .max(600_000)
      .optional()
      .describe('Milliseconds for which a poll may not show what an allocate has done. Default: `matching.listLagMs`.'),
    capacity: count
      .optional()
      .describe('Servers that the hoster has at once, for `muster check`. It bounds nothing. Default: unknown.'),
    launch: launch
      .optional()
      .describe('Servers as processes of this machine, each with ports of its own. Not on Windows, nor with Redis.'),
  })
  .superRefine((given, context) => {
    const kinds = (['allocator', 'launch'] as const).filter((kind) => given[kind] !== undefined)
    const [kind] = kinds
    if (kind === undefined || kinds.length > 1)
      return context.addIssue('must have either allocator, with its secret, or launch')
    if (kind === 'allocator' && given.secret === undefined)
      context.addIssue({ code: 'custom', path: ['secret'], message: 'is required: it signs each request' })
    const known: readonly string[] = [kind, ...FIELDS[kind]]
    for (const field of Object.keys(given))
      if (!known.includes(field))
        context.addIssue({ code: 'custom', path: [field], message: 'is only allowed with allocator' })
  })
  .meta({ oneOf: [{ required: ['allocator', 'secret'] }, { required: ['launch'] }] })

export const sources = z
  .record(sourceName, sourceSchema)
  .default({})
  .describe(
    'Other sources of servers than the service, by name; pools name one in `source`: see any-hoster.md. ' +
      'A change takes effect after a restart. Default: none.',
  )

export const results = optionalSection({
  url: fetchedUrl.describe('URL that takes a POST for each match that is over.'),
  secret: secret.describe('Secret that signs each POST, as Standard Webhooks describe: `whsec_` and base64.'),
}).describe(
  'Where Muster sends the results of matches: a signed POST for each, repeated until a 2xx answers, in ' +
    'order for each player. Default: nowhere.',
)

export const servers = optionalSection({
  secret: signingSecret.describe('Secret of at least 32 characters from which the tokens of game servers are derived.'),
}).describe(
  'How Muster recognizes game servers. Default: by a secret that the store keeps; without a store it ' +
    'lasts as long as the process.',
)

export const joinTokens = section({
  alg: z
    .enum(['HS256', 'EdDSA'])
    .default('HS256')
    .describe('`HS256`: by a key of each server. `EdDSA`: by one key, whose public half is at /.well-known/jwks.json.'),
}).describe('How join tokens are signed, with which players prove their identity to a game server.')

export const browser = definedBrowser
  .prefault({})
  .describe('How players find servers that list themselves, and how long seats on them are held.')

/** Replaces the `deploy` of a pool that has other faults, so that the queues of the pool are validated too. */
const ANY = poolSchema.parse({ name: 'any', deploy: { application: 'any', version: 'any' } })

/** Returns the pools that queues may name: those that have a valid name. */
export function poolsIn(given: unknown): readonly Pick<ServerPool, 'name' | 'deploy'>[] {
  if (!Array.isArray(given)) return []
  return given.flatMap((definition: unknown) => {
    const { data } = validateAll(pool, definition)
    if (data !== undefined) return data
    const name: unknown = typeof definition === 'object' && definition !== null ? Reflect.get(definition, 'name') : null
    return typeof name === 'string' ? { ...ANY, name } : []
  })
}

interface CheckedPools {
  /** The valid pools; empty if any pool is invalid. */
  readonly pools: readonly ConfiguredPool[]
  /** The pools that queues may name. Pools with faults in other fields are included. */
  readonly named: ReturnType<typeof poolsIn>
  readonly faults: readonly Fault[]
}

/** Validates only the section `pools` of a file. */
export function checkPools(given: unknown): CheckedPools {
  const { data, faults = [] } = validateAll(z.object({ pools }), { pools: given })
  return { pools: data?.pools ?? [], named: poolsIn(given), faults }
}
