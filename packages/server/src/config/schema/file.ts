import { defaultOptions } from '@muster/matchmaker'
import { z } from 'zod'
import { auth, profiles } from './auth.js'
import { lobbies, relay } from './lobbies.js'
import { duration, signingSecret } from './parts.js'
import { addresses, consoleSection, cors, listen, locate, service, shutdown, telemetry, webhook } from './service.js'
import { limits, matching, spending } from './spending.js'
import { store } from './store.js'

const beacons = z
  .strictObject({
    enabled: z
      .boolean()
      .default(true)
      .describe('Whether latencies that players report are checked against the beacons of the service.'),
  })
  .prefault({})
  .describe('Places to which players measure their latency.')

const streamTokens = z
  .strictObject({
    key: signingSecret
      .optional()
      .describe('Secret of at least 32 bytes. Processes that share it accept the tokens of each other.'),
    lifetimeMs: duration
      .min(1000)
      .max(86_400_000)
      .default(300_000)
      .describe('Milliseconds for which a token opens streams.'),
  })
  .prefault({})
  .describe('Tokens by which browsers follow a ticket without a header.')

/** The file as a whole. Queues are checked by the matchmaker itself, and so is what it says of them. */
export const fileSchema = z.strictObject({
  name: z
    .string()
    .regex(/^[\w-]{1,32}$/, 'must be 1 to 32 of A–Z, a–z, 0–9, _ and -')
    .default(defaultOptions.name)
    .describe(
      'Tells the servers of this program from others of the account, by the tag `mm-<name>`. Two programs that run ' +
        'at the same time need two names, unless they share a Redis.',
    ),
  listen,
  service,
  queues: z
    .array(z.unknown())
    .min(1)
    .max(1000)
    .describe('The queues in which players wait, each with its rules and the server that its matches get.'),
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
  inspect: z.boolean().default(false).describe('Whether backends may read /inspect: queues and tickets as they are.'),
  matching,
  shutdown,
})

export type ConfigFile = z.output<typeof fileSchema>
