import { join } from 'node:path'
import { type Queue, queueJsonSchema } from '@muster/matchmaker'
import { defaultOptions, type ServerPool } from '@muster/matchmaker/internal'
import { strictObject, z } from 'zod'
import { auth, profiles } from './auth-schema.js'
import { duration, flag, section, signingSecret, textLike } from './field-types.js'
import { limits, lobbies, matching, relay, spending } from './limits-schema.js'
import { browser, joinTokens, pools, results, servers, sources } from './servers-schema.js'
import {
  addresses,
  consoleSection,
  cors,
  launch,
  listen,
  locate,
  service,
  shutdown,
  store,
  telemetry,
  webhook,
} from './program-schema.js'
import type { RelativePath, Secret, SecretSource } from './secret.js'

/** A part of the file as the program uses it: secrets are read, and paths are absolute. */
export type Resolved<T> = T extends SecretSource
  ? Secret
  : T extends RelativePath
    ? string
    : T extends readonly (infer Entry)[]
      ? readonly Resolved<Entry>[]
      : T extends object
        ? { readonly [Key in keyof T]: Resolved<T[Key]> }
        : T

/** The configuration with all defaults. Its secrets cannot be printed. */
export type Config = Omit<Resolved<ConfigFile>, 'queues' | 'pools' | 'store'> & {
  readonly queues: readonly Queue[]
  readonly pools: readonly ResolvedPool[]
  readonly store: StoreConfig
}

/** A pool whose enrolment keys are read. */
type ResolvedPool = Omit<ServerPool, 'enrol'> & {
  readonly enrol: readonly (Omit<ServerPool['enrol'][number], 'key'> & { readonly key: Secret })[]
}

/** Returns the pools with their enrolment keys as plain strings. Pass the result only to the matchmaker. */
export const withKeys = (given: Config['pools']): readonly ServerPool[] =>
  given.map((pool) => ({ ...pool, enrol: pool.enrol.map((one) => ({ ...one, key: one.key.reveal() })) }))

/** The place where tickets, matches and servers are stored. */
export type StoreConfig =
  | { readonly kind: 'memory' }
  | { readonly kind: 'folder'; /** Absolute. */ readonly path: string; readonly fsync: Folder['fsync'] }
  | ({ readonly kind: 'redis' } & Redis)

type Given = Exclude<Resolved<ConfigFile>['store'], 'memory'>
type Folder = Extract<Given, { readonly folder: string }>
type Redis = Extract<Given, { readonly redis: object }>['redis']

/** Converts the section `store` to the form that the program uses. */
export function storeOf(given: Resolved<ConfigFile>['store']): StoreConfig {
  if (given === 'memory') return { kind: 'memory' }
  return 'redis' in given
    ? { kind: 'redis', ...given.redis }
    : { kind: 'folder', path: given.folder, fsync: given.fsync }
}

/** Returns the paths of the files in a store folder. */
export const storeFilesIn = (folder: string) => ({
  path: join(folder, 'muster.log'),
  // The two files that versions before 0.1 wrote; their content is taken over.
  takeOver: [join(folder, 'tickets.log'), join(folder, 'servers.journal')],
})

const beacons = section({
  enabled: flag(true).describe('Whether latencies that players report are checked against the beacons of the service.'),
}).describe('Places to which players measure their latency.')

const streamTokens = section({
  key: signingSecret
    .optional()
    .describe("Secret of at least 32 bytes. Processes with the same key accept each other's tokens."),
  lifetimeMs: duration
    .min(1000)
    .max(86_400_000)
    .default(300_000)
    .describe('Milliseconds for which a token opens streams.'),
}).describe('Tokens by which browsers follow a ticket without a header.')

/**
 * Version of the configuration's format. It is raised when a valid file becomes invalid or changes its meaning.
 * docs/upgrading.md then describes the change.
 */
export const FILE_VERSION = 1

/**
 * The schema of the whole file, except for the queues' content. The matchmaker validates the queues, and words their
 * faults.
 */
export const fileSchema = strictObject({
  version: z
    .literal(FILE_VERSION)
    .default(FILE_VERSION)
    .describe('Version of the format of this file. This version of Muster reads 1.'),
  name: textLike(/^[\w-]{1,32}$/, 'must be 1 to 32 of A–Z, a–z, 0–9, _ and -')
    .default(defaultOptions.name)
    .describe(
      'Distinguishes the servers of this program from others of the account, by the tag `mm-<name>`. ' +
        'Two programs that run ' +
        'at the same time need two names, unless they share a Redis. ' +
        'Before a change, end all matches and servers: Muster may never stop servers with the former tag.',
    ),
  listen,
  service,
  queues: z
    .array(z.unknown())
    .min(1)
    .max(1000)
    .describe('The queues in which players wait, each with its rules and the server that its matches get.'),
  pools,
  sources,
  results,
  servers,
  joinTokens,
  browser,
  spending,
  limits,
  auth,
  addresses,
  cors,
  profiles,
  store,
  console: consoleSection,
  telemetry,
  lobbies,
  relay,
  webhook,
  beacons,
  locate,
  streamTokens,
  launch,
  inspect: flag(false).describe('Whether backends may read /inspect: queues and tickets as they are.'),
  matching,
  shutdown,
})

export type ConfigFile = z.output<typeof fileSchema>

type Json = Readonly<Record<string, unknown>>

/**
 * The JSON Schema draft that editors support best. The schema needs nothing newer except `$defs`, which works because
 * references may point anywhere in the document.
 */
const DRAFT = 'http://json-schema.org/draft-07/schema#'

/**
 * Returns the JSON Schema of the configuration, for editors. `muster.schema.json` of this package contains it, with
 * descriptions of the queues' fields. `muster check` finds more faults than a schema can express, e.g. two queues of
 * one name.
 */
export function configJsonSchema(): Json {
  const { $schema: _, properties, ...file } = z.toJSONSchema(fileSchema, { io: 'input', unrepresentable: 'any' })
  const { $schema: __, $defs, ...queue } = queueJsonSchema()
  const queues = { ...(properties?.['queues'] as Json), items: queue }
  return {
    $schema: DRAFT,
    title: 'muster.yaml',
    ...file,
    properties: { ...properties, queues },
    $defs: withoutFunctions($defs),
  }
}

/** Returns the rule definitions without the kind `custom`, which contains a function that a file cannot hold. */
function withoutFunctions(definitions: unknown): Json {
  const { rule, ...others } = definitions as { readonly rule: { readonly oneOf: readonly Json[] } }
  const isFunction = ({ properties }: Json) => (properties as { readonly kind: Json }).kind['const'] === 'custom'
  return { rule: { ...rule, oneOf: rule.oneOf.filter((kind) => !isFunction(kind)) }, ...others }
}
