import { isIPv6 } from 'node:net'
import { clientAddress } from '@muster/core/http'
import { strictObject, z } from 'zod'
import {
  baseUrl,
  command,
  count,
  duration,
  flag,
  hostAndPort,
  hostName,
  optionalSection,
  orWord,
  path,
  redisUrl,
  secret,
  section,
  serviceToken,
  textLike,
} from './field-types.js'
import { RelativePath } from './secret.js'

// --- network ---

/** Returns true if the first host stands for every address of the machine, and the other one is such an address. */
const includes = (every: string, host: string) => every === '::' || (every === '0.0.0.0' && !isIPv6(host))

/** Returns true if the two listeners cannot both be opened. Port 0 means any free port, so it never conflicts. */
const isSameSocket = (one: Socket, other: Socket): boolean =>
  one.port !== 0 &&
  one.port === other.port &&
  (one.host === other.host || includes(one.host, other.host) || includes(other.host, one.host))

interface Socket {
  readonly host: string
  readonly port: number
}

export const listen = section({
  host: textLike(/^[\w.:-]{1,253}$/, 'must be a host name or an address')
    .default('127.0.0.1')
    .describe('Address on which the program listens. 0.0.0.0 is every IPv4 address of the machine, :: every address.'),
  port: z.int().min(0).max(65_535).default(8080).describe('TCP port; 0 takes any free one.'),
  admin: hostAndPort
    .optional()
    .describe(
      'Address and port of a second listener, e.g. 127.0.0.1:9090, for /healthz, /readyz, /metrics and /console. ' +
        'Metrics and the console are then served only there. Default: the first listener serves them.',
    ),
  publicUrl: baseUrl
    .optional()
    .describe(
      'URL at which this program is reached from outside, through a proxy that ends TLS. The service sends its ' +
        'webhooks there, and registering game servers receive it.',
    ),
})
  .refine(({ host, port, admin }) => admin === undefined || !isSameSocket({ host, port }, admin), {
    path: ['admin'],
    message: 'must not be the address and port of the first listener',
  })
  .describe('Where the program listens.')

/** @param least the default of `min`; omitted: no minimum. @param most the default of `max`; omitted: no maximum. */
const bounds = (what: string, least?: number, most?: number) =>
  section({
    min: z
      .number()
      .optional()
      .describe(`Minimum. Default: ${least ?? 'none'}.`),
    max: orWord(z.number(), 'unlimited', Infinity, 'a number')
      .optional()
      .describe(`Maximum, or \`unlimited\`. Default: ${most ?? 'unlimited'}.`),
  })
    .refine(({ min = -Infinity, max = Infinity }) => min <= max, 'must not have a min above its max')
    .describe(what)
const parameter = (what: string) =>
  textLike(/^[\w.[\]-]{1,64}$/, 'must be the name of a query parameter')
    .optional()
    .describe(what)

const settings = section({
  createDeploymentPath: textLike(/^\/[\w\-.~/]{0,200}$/, 'must be a path: a slash, then letters, digits, - _ . ~ and /')
    .optional()
    .describe('Path of create deployment, below `url`. Default /deployments. A public deployment has /v2/deployments.'),
  containerLogStorageParameter: parameter(
    'Query parameter of stops that names the storage of logs. Default container_log_storage.',
  ),
  deploymentQueryParameter: parameter(
    'Query parameter of the deployment list that holds its filters and order as JSON. Default query.',
  ),
  locationTypeParameter: parameter('Query parameter of the location list that filters by type. Default type.'),
  locationTagsParameter: parameter('Query parameter of the location list that asks for tags. Default tags.'),
  fillRequired: z
    .boolean()
    .optional()
    .describe(
      'Whether creates send the values that a public deployment requires and the specification leaves ' +
        'open. Default true.',
    ),
  valueLimits: section({
    appName: bounds("Characters of an application's name.", 3, 64),
    versionName: bounds("Characters of a version's name.", 1, 64),
    reqCpu: bounds('CPU units of a version.', 100),
    reqMemory: bounds("Megabytes of a version's memory.", 100),
    maxDuration: bounds('Minutes that a deployment may run.', -1, 1440),
    timeToDeploy: bounds('Seconds that a version may take to deploy.', 15),
    terminationGrace: bounds('Seconds from SIGTERM to SIGKILL.', 5, 3600),
    port: bounds('Ports of a version.', 0, 59_999),
    tagName: bounds('Characters of a tag.', 1, 40),
    environmentValue: bounds('Bytes of the value of an environment variable.', undefined, 4096),
  }).describe('Limits on values, which are checked before a request is sent.'),
}).describe(
  "Values for points that the service's specification leaves open. `muster check --live` names those that do not " +
    'fit. Changes take effect after a restart.',
)

export const service = strictObject({
  url: baseUrl.describe('Address of the service that runs the game servers.'),
  token: serviceToken.describe("The account's API token."),
  share: z
    .number()
    .positive()
    .max(1)
    .default(1)
    .describe(
      "This program's share of the account's rate limits, if other programs use the account too. With a Redis " +
        'store, its processes share the limits by themselves.',
    ),
  timeoutMs: duration
    .default(30_000)
    .describe('Milliseconds that a call of the service may take, including its time in the queue and its retries.'),
  settings,
})
  .optional()
  .describe(
    'The deployment service. Queues without a pool need it, and so do lobbies that start relay sessions. A pool ' +
      'needs it unless it has a `source`, or all its servers enrol. Adding or removing `service` takes effect ' +
      'after a restart. Default: none.',
  )

function isNetwork(given: string): boolean {
  try {
    clientAddress({ trustedProxies: [given] })
    return true
  } catch {
    return false
  }
}

export const addresses = section({
  trustedProxies: z
    .array(z.string().refine(isNetwork, 'must be a network: an address, a slash and the prefix length'))
    .max(1000)
    .default([])
    .describe(
      "Networks of the proxies in front, e.g. 10.0.0.0/8. Only these may state a client's address. " +
        'Default: none, so the other end of the connection is the client.',
    ),
  header: textLike(/^[\w-]{1,64}$/, 'must be the name of a header')
    .transform((name) => name.toLowerCase())
    .prefault('x-forwarded-for')
    .describe(
      "Header in which the proxies send the client's address: a list of addresses, or forwarded as in RFC 7239.",
    ),
}).describe("How Muster determines a player's address, which it uses to place servers and to count requests.")

export const launch = z
  .union(
    [
      command.transform((given) => ({ command: given, folder: new RelativePath('.') })),
      strictObject({ command, folder: path.describe('The working directory, relative to the folder of this file.') }),
    ],
    { error: 'must be a list: the program and its arguments; or { command, folder }' },
  )
  .optional()
  .describe(
    'What `muster dev` runs on this machine for each game server, e.g. [node, server.js]. No other ' +
      'command uses it: for those, see `launch` of a source. Default: servers are simulated.',
  )

const origin = textLike(
  /^(\*|null|[a-z][a-z\d+.-]*:\/\/(\*\.)?(\[[\da-f:.]+\]|[a-z\d_-]+(\.[a-z\d_-]+)*)(:(\d{1,5}|\*))?)$/i,
  'must be an origin without a path, e.g. https://play.example.com; https://*.example.com for each subdomain; ' +
    'http://localhost:* for each port; or * for each page',
).transform((given) => given.toLowerCase())

export const cors = section({
  origins: z
    .array(origin)
    .max(1000)
    .default([])
    .describe(
      'Origins of pages, e.g. https://play.example.com; https://*.example.com for every subdomain, not for ' +
        'example.com itself; http://localhost:* for every port; * for every page.',
    ),
}).describe('Web pages that may call the ticket API and the lobby API. Default: none.')

export const locate = optionalSection({
  file: path.describe("City database in MaxMind's format (.mmdb). It is read again on reload."),
  cacheSize: z.int().min(0).default(10_000).describe('Maximum number of addresses whose place is cached.'),
}).describe(
  'Finds the place of a player by address, for queues with a distance rule. Without it, only players who send ' +
    'coordinates have a place.',
)

export const consoleSection = section({
  enabled: flag(true).describe('Whether the console is served below /console.'),
  hosts: z
    .array(hostName)
    .max(100)
    .default([])
    .describe(
      'Names that the Host header of a request to the console may have, in addition to localhost and ' +
        'the host of `listen.publicUrl`. Other requests are refused, so that no page of another site can ' +
        'reach the console.',
    ),
  editDeploy: flag(false).describe(
    'Whether a role `deploy` may change `deploy` of a queue in the console: the application, its version, ' +
      'variables and the probe. That allows starting any image of the account with the hidden variables of the ' +
      'queue.',
  ),
  stories: section({
    keepHours: z
      .number()
      .min(0.1)
      .max(24 * 31)
      .default(24)
      .describe('Hours for which the console keeps the story of a ticket, player, match or server.'),
    maxMegabytes: z
      .int()
      .min(1)
      .max(1024)
      .default(64)
      .describe(
        'Maximum megabytes of stories, in the memory of each process and, with `store`, in the folder ' +
          'or in Redis. The oldest events are dropped first.',
      ),
  }).describe('Events that the search of the console (Find) can show. With a folder or Redis they survive a restart.'),
}).describe('The web page on which people see and operate the matchmaker. `auth` decides who may use it.')

export const telemetry = section({
  log: section({
    level: z
      .enum(['debug', 'info', 'warn', 'error', 'silent'])
      .default('info')
      .describe('Minimum level of lines that are written.'),
    format: z
      .enum(['json', 'text'])
      .default('json')
      .describe('Format of each line: a JSON object for programs, or text for people.'),
  }).describe('Lines of log on the standard output.'),
  metrics: section({
    enabled: flag(true).describe('Whether /metrics is served, for Prometheus.'),
    key: secret
      .optional()
      .describe(
        'Bearer token that /metrics requires, of at least 16 characters. Default: none is needed, but with a ' +
          '`listen.publicUrl` all requests without a key are refused.',
      ),
    open: flag(false).describe(
      'Whether everyone may read /metrics without a key even with a `listen.publicUrl`. Metrics show ' +
        'exactly how many players wait in each queue.',
    ),
  }).describe('Metrics for Prometheus.'),
}).describe('Logs and metrics of the program. They never contain a secret or an address of a player.')

export const webhook = section({
  enabled: z
    .boolean()
    .optional()
    .describe(
      'Whether the service reports changes of servers to this program by webhook. Default: if ' +
        '`publicUrl` is given.',
    ),
}).describe(
  'Webhooks of the service. Without them the program polls the service, and learns of changes somewhat later.',
)

export const shutdown = section({
  withinMs: duration
    .max(600_000)
    .default(10_000)
    .describe('Milliseconds after SIGTERM in which the program finishes open work; then it ends in any case.'),
}).describe('How the program ends.')

// --- storage of tickets, matches and servers ---

const folder = strictObject({
  folder: path.describe(
    'Folder of the file `muster.log`, which holds servers and waiting tickets, so that a restart loses ' +
      'none. Only one program at a time can use it.',
  ),
  fsync: z
    .enum(['always', 'intents', 'never'])
    .default('intents')
    .describe(
      'When changes are forced onto the disk. `always`: at every change. `intents`: before Muster requests a ' +
        'server, together with all earlier changes. `never`: not at all. With every choice, `kill -9` loses ' +
        'nothing, but a power failure may lose changes that are not on the disk yet.',
    ),
})

const redis = strictObject({
  url: redisUrl().describe(
    'URL of the Redis, e.g. redis://127.0.0.1:6379. With a password it is a secret: { env } or { file }.',
  ),
  prefix: textLike(/^[\w.:-]{1,64}$/, 'must be 1 to 64 letters, digits, ., _, - and :')
    .default('mu')
    .describe('Text with which every key in Redis begins.'),
  timeoutMs: duration.min(50).default(5000).describe('Milliseconds until a command without an answer fails.'),
  maxTickets: count
    .max(100_000_000)
    .default(1_000_000)
    .describe('Maximum number of tickets, including those that ended recently.'),
  leaseMs: duration
    .min(300)
    .max(60_000)
    .default(1000)
    .describe(
      'Milliseconds after which another process leads if the leader is gone. On a slow machine the time ' +
        'grows automatically, up to ten times.',
    ),
  canLead: flag(true).describe(
    'Whether this process may lead, that is, make matches. Otherwise it only serves players.',
  ),
  fallbackShare: z
    .number()
    .positive()
    .max(1)
    .optional()
    .describe(
      "This process's share of the service's rate limits while Redis is away. Default: none, so requests wait " +
        'until it is back.',
    ),
  replicas: optionalSection({
    atLeast: z.int().min(1).max(100).describe('Number of replicas that must have the record.'),
    timeoutMs: z.number().min(1).max(10_000).describe('Milliseconds to wait for the replicas.'),
  }).describe('Replicas of Redis that must have the record of a server before it is requested. Default: none.'),
}).describe('Several processes share a Redis 7 or later.')

const FORMS = 'must be memory, { folder: … } or { redis: … }'

export const store = z
  .union([z.literal('memory'), folder, strictObject({ redis })], { error: FORMS })
  .default('memory')
  .describe(
    'Where the program stores its state. `memory`: only in memory, so a restart loses the waiting ' +
      'tickets. `{ folder }`: on disk. ' +
      '`{ redis }`: in Redis, for several processes.',
  )
