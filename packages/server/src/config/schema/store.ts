import { z } from 'zod'
import { count, duration, path, secretUrl } from './parts.js'

/** The section about where tickets, matches and servers are remembered. */

const folder = z.strictObject({
  folder: path.describe(
    'Folder in which servers and waiting tickets are remembered, so that a restart loses none. One program at a ' +
      'time uses it.',
  ),
  fsync: z
    .enum(['always', 'intents', 'never'])
    .default('intents')
    .describe(
      'What is forced onto the disk at once. `always`: every entry; `intents`: only that a server is about to be ' +
        'requested; `never`: nothing. With every choice the end of the process loses nothing; a power failure may.',
    ),
})

const redis = z
  .strictObject({
    url: secretUrl(/^rediss?$/, 'a redis or rediss URL').describe(
      'URL of the Redis, e.g. redis://127.0.0.1:6379. With a password it is a secret: { env } or { file }.',
    ),
    prefix: z
      .string()
      .regex(/^[\w.:-]{1,64}$/, 'must be 1 to 64 letters, digits, ., _, - and :')
      .default('mu')
      .describe('Beginning of every key.'),
    timeoutMs: duration.min(50).default(5000).describe('Milliseconds until a command without an answer fails.'),
    maxTickets: count.max(100_000_000).default(1_000_000).describe('Tickets at most, with those that ended lately.'),
    leaseMs: duration
      .min(300)
      .max(60_000)
      .default(1000)
      .describe(
        'Milliseconds after which another process matches if the one that does is gone. On a machine that is held up ' +
          'it becomes longer by itself, up to ten times.',
      ),
    mayLead: z.boolean().default(true).describe('Whether this process may match, and not only take tickets.'),
    fallbackShare: z
      .number()
      .positive()
      .max(1)
      .optional()
      .describe(
        "This process's share of the service's rate limits while Redis is away. Default: none, so requests wait " +
          'until it is back.',
      ),
    replicas: z
      .strictObject({
        atLeast: z.int().min(1).max(100).describe('Replicas that must know of it.'),
        timeoutMs: z.number().min(1).max(10_000).describe('Milliseconds to wait for them.'),
      })
      .optional()
      .describe('Replicas of Redis that must know of a server before it is requested. Default: none.'),
  })
  .describe('Several processes share a Redis 7 or later. Needs the package @muster/redis.')

const FORMS = 'must be memory, { folder: … } or { redis: … }'

export const store = z
  .union([z.literal('memory'), folder, z.strictObject({ redis })], { error: FORMS })
  .default('memory')
  .describe(
    'Where the program remembers. `memory`: nowhere, so a restart loses the waiting tickets. `{ folder }`: on disk. ' +
      '`{ redis }`: in Redis, for several processes.',
  )
