import { type Fault, validateAll } from '@muster/core/internal'
import { type Browser, browserSchema, poolSchema, type ServerPool } from '@muster/matchmaker/internal'
import { z } from 'zod'
import { httpUrl, optionalSection, secret, section, signingSecret } from './field-types.js'

// Game servers that outlive a match: docs/servers.md.

/** A pool by a name of this package: otherwise its declarations would name a package that it does not depend on. */
export interface ConfiguredPool extends ServerPool {}
/** The same of the server browser. */
export interface ConfiguredBrowser extends Browser {}

const pool: z.ZodType<ConfiguredPool> = poolSchema
const definedBrowser: z.ZodType<ConfiguredBrowser> = browserSchema

export const pools = z
  .array(pool)
  .max(100)
  .default([])
  .describe('Pools of game servers that outlive a match, which queues name in place of `deploy`. Default: none.')

export const results = optionalSection({
  url: httpUrl.describe('URL that takes a POST for each match that is over.'),
  secret: secret.describe('Secret that signs each POST, as Standard Webhooks describe: `whsec_` and base64.'),
}).describe(
  'Where the results of matches go that their servers report: a signed POST for each, repeated until a 2xx ' +
    'answers, in order for each player. Default: nowhere.',
)

export const servers = optionalSection({
  secret: signingSecret.describe('Secret of at least 32 characters from which the tokens of game servers are derived.'),
}).describe(
  'How game servers are recognized. Default: by a secret that the store keeps; without a store it lasts as long as ' +
    'the process.',
)

export const joinTokens = section({
  alg: z
    .enum(['HS256', 'EdDSA'])
    .default('HS256')
    .describe('`HS256`: by a key of each server. `EdDSA`: by one key, whose public half is at /.well-known/jwks.json.'),
}).describe('How the tokens are signed by which players prove to a game server who they are.')

export const browser = definedBrowser
  .prefault({})
  .describe('How servers that list themselves are found by players, and how long seats on them are held.')

/** What is deployed for a pool that is wrong in another way, so that its queues are checked as well. */
const ANY = poolSchema.parse({ name: 'any', deploy: { application: 'any', version: 'any' } })

/** The pools of a file that queues may name, as far as they have names. */
export function poolsIn(given: unknown): readonly Pick<ServerPool, 'name' | 'deploy'>[] {
  if (!Array.isArray(given)) return []
  return given.flatMap((definition: unknown) => {
    const { data } = validateAll(poolSchema, definition)
    if (data !== undefined) return data
    const name: unknown = typeof definition === 'object' && definition !== null ? Reflect.get(definition, 'name') : null
    return typeof name === 'string' ? { ...ANY, name } : []
  })
}

interface CheckedPools {
  /** Empty if one is wrong. */
  readonly pools: readonly ConfiguredPool[]
  /** Those that queues may name, also if they are wrong in another way than by their name. */
  readonly named: ReturnType<typeof poolsIn>
  readonly faults: readonly Fault[]
}

/** Checks the pools of a file alone. */
export function checkPools(given: unknown): CheckedPools {
  const { data, faults = [] } = validateAll(z.object({ pools }), { pools: given })
  return { pools: data?.pools ?? [], named: poolsIn(given), faults }
}
