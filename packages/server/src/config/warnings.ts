import { didYouMean } from '@muster/core/internal'
import type { Queue, RuleDefinition } from '@muster/matchmaker'
import type { ConfigFile } from './config.js'

interface Parts {
  readonly file: ConfigFile
  readonly queues: readonly Queue[]
}

/** What is allowed, and may not be what the author meant. */
export function warningsAbout({ file, queues }: Parts): Remark[] {
  return [
    ...aboutCallers(file),
    ...aboutConnections(file),
    ...aboutCosts(file),
    ...aboutStatements(file, queues),
    ...aboutPlaces(file, queues),
    ...aboutProbes(file, queues),
    ...aboutJoining(file, queues),
    ...aboutPools(file, queues),
    ...aboutProcesses(file),
    ...when(
      file.launch !== undefined,
      'launch',
      'is obeyed by `muster dev` alone: elsewhere, `service` runs the servers',
    ),
    ...aboutDeclining(queues),
  ]
}

const isLoopback = (host: string) => /^(localhost|127(\.\d+){3}|\[?::1\]?)$/.test(host)
const isPlain = (url: string | undefined) => {
  if (url === undefined) return false
  const { protocol, hostname } = new URL(url)
  return protocol === 'http:' && !isLoopback(hostname)
}

/** Whether strangers reach what the listener of players serves. */
export const isPublic = ({ publicUrl, admin }: Pick<ConfigFile['listen'], 'publicUrl' | 'admin'>): boolean =>
  admin === undefined && publicUrl !== undefined && !isLoopback(new URL(publicUrl).hostname)

const when = (holds: boolean, path: string, message: string): Remark[] =>
  holds ? [{ path: path.split('.'), message }] : []

function aboutCallers({ auth, console: page, telemetry, listen }: ConfigFile): Remark[] {
  const { metrics } = telemetry
  const hasOpenMetrics = metrics.enabled && metrics.key === undefined
  const mayLook = auth.keys.some(({ role }) => role !== 'backend') || auth.jwt?.claims.role !== undefined
  return [
    ...when(auth.jwt === undefined && auth.keys.length === 0, 'auth', 'lets nobody in: give jwt, or keys'),
    ...when(
      page.enabled && !mayLook,
      'console',
      'is on, but no auth key can open it: add one with role look or operate to auth.keys',
    ),
    ...when(
      hasOpenMetrics && (metrics.open || !isPublic(listen)) && !isLoopback(listen.admin?.host ?? listen.host),
      'telemetry.metrics',
      'are shown to everyone who reaches the program: give metrics.key, or keep /metrics behind a proxy',
    ),
    ...when(
      hasOpenMetrics && !metrics.open && isPublic(listen),
      'telemetry.metrics',
      'are shown to nobody, since there is a listen.publicUrl: give metrics.key or listen.admin, or say open: true',
    ),
  ]
}

function aboutConnections({ listen, service, profiles, auth, addresses }: ConfigFile): Remark[] {
  const proxied = listen.publicUrl?.startsWith('https:') === true && addresses.trustedProxies.length === 0
  return [
    ...when(isPlain(service.url), 'service.url', 'is not encrypted: the token is sent as it is'),
    ...when(isPlain(profiles?.url), 'profiles.url', 'is not encrypted: profiles can be changed on the way'),
    ...when(isPlain(auth.jwt?.jwks), 'auth.jwt.jwks', 'is not encrypted: whoever changes keys on the way can log in'),
    ...when(isPlain(listen.publicUrl), 'listen.publicUrl', 'is not encrypted: tokens of players are sent as they are'),
    ...when(
      proxied,
      'listen.publicUrl',
      'has a proxy in front, which ends TLS, but addresses.trustedProxies is empty: all players have its address',
    ),
    ...when(
      addresses.header !== 'x-forwarded-for' && addresses.trustedProxies.length === 0,
      'addresses.header',
      'has no effect without addresses.trustedProxies: nobody is believed who sends it',
    ),
  ]
}

function aboutCosts({ spending, store, matching, service }: ConfigFile): Remark[] {
  return [
    ...when(spending.maxServers === Infinity, 'spending.maxServers', 'sets no bound to what a mistake can cost'),
    ...when(
      spending.maxServersPerPlayer === Infinity,
      'spending.maxServersPerPlayer',
      'lets one player start any number',
    ),
    ...when(
      matching.orphanGraceMs === Infinity,
      'matching.orphanGraceMs',
      'lets servers run on that belong to no match any more, e.g. after a crash',
    ),
    ...when(
      store === 'memory',
      'store',
      'is memory: a restart loses the waiting tickets, and servers of its matches are stopped only when they are found',
    ),
    ...when(
      typeof store === 'object' && 'redis' in store && service.share !== 1,
      'service.share',
      'has no effect: Redis keeps the limits',
    ),
  ]
}

/** Attributes that somebody else vouches for, and that players may say of themselves all the same. */
function aboutStatements({ auth, profiles }: ConfigFile, queues: readonly Queue[]): Remark[] {
  const claimed = new Set(Object.keys(auth.jwt?.claims.attributes ?? {}))
  const whenDown = profiles?.whenDown
  const known = new Set(typeof whenDown === 'object' ? Object.keys(whenDown.attributes ?? {}) : [])
  return queues.flatMap(({ playerMayState = [] }, queue) =>
    playerMayState.flatMap((name, index) => {
      const by = claimed.has(name) ? 'the token' : known.has(name) ? 'the profile' : undefined
      const message = `is what ${by} says too: a player of whom it says nothing can choose it`
      return by === undefined ? [] : [{ path: ['queues', String(queue), 'playerMayState', String(index)], message }]
    }),
  )
}

/** The kinds of a rule and of those within it; without that of a distance rule that wants no places. */
const kindsIn = (rule: RuleDefinition): string[] => [
  ...(rule.kind === 'distance' && rule.missing === 'any' ? [] : [rule.kind]),
  ...('rules' in rule ? rule.rules.flatMap(kindsIn) : 'rule' in rule ? kindsIn(rule.rule) : []),
]

function aboutPlaces({ locate, beacons }: ConfigFile, queues: readonly Queue[]): Remark[] {
  const first = (kind: string) =>
    queues.flatMap(({ rules }, queue) =>
      rules.flatMap((rule, at) => (kindsIn(rule).includes(kind) ? [`queues.${queue}.rules.${at}`] : [])),
    )[0]
  const [distance, latency] = [first('distance'), first('latency')]
  return [
    ...when(
      distance !== undefined && locate === undefined,
      distance ?? '',
      'needs places, and there is no locate: only players who send coordinates have one',
    ),
    ...when(
      latency !== undefined && !beacons.enabled,
      latency ?? '',
      'uses latencies that nobody checks: beacons.enabled is false',
    ),
  ]
}

function aboutProbes({ listen }: ConfigFile, queues: readonly Queue[]): Remark[] {
  return queues.flatMap(({ deploy: { probe } }, queue) =>
    when(
      probe?.kind === 'registration' && probe.url === undefined && listen.publicUrl === undefined,
      `queues.${queue}.deploy.probe`,
      'tells servers no URL to register at: give its url, or listen.publicUrl',
    ),
  )
}

/** Servers say who came by the ticket API, whose URL they find in MM_API_URL, unless they know it otherwise. */
function aboutJoining({ listen }: ConfigFile, queues: readonly Queue[]): Remark[] {
  return queues.flatMap(({ deploy: { joinWithinMs } }, queue) =>
    when(
      joinWithinMs !== undefined && listen.publicUrl === undefined,
      `queues.${queue}.deploy.joinWithinMs`,
      'ends every match whose server cannot say that a player came: give listen.publicUrl, which servers are told',
    ),
  )
}

/** Servers of a pool register by the ticket API, whose URL they find in MUSTER_URL. */
function aboutPools(file: ConfigFile, queues: readonly Queue[]): Remark[] {
  const { pools, listen, spending, store, servers, results } = file
  return [
    ...when(
      pools.length > 0 && listen.publicUrl === undefined,
      'pools',
      'tell their servers no URL to register at: give listen.publicUrl',
    ),
    ...when(
      pools.length > 0 && store === 'memory' && servers === undefined,
      'pools',
      'lose their servers at a restart, since nobody knows their tokens then: give store, or servers.secret',
    ),
    ...when(isPlain(results?.url), 'results.url', 'is not encrypted: results and ids of players are sent as they are'),
    ...pools.flatMap(({ name, warm }, index) => [
      ...when(!queues.some(({ pool }) => pool === name), `pools.${index}`, 'is the pool of no queue'),
      ...when(
        warm !== undefined && warm.max >= spending.maxServers,
        `pools.${index}.warm.max`,
        `leaves no server for matches: spending.maxServers is ${spending.maxServers}`,
      ),
    ]),
  ]
}

/** Warnings that matter for several processes only. */
function aboutProcesses({ store, streamTokens }: ConfigFile): Remark[] {
  if (typeof store !== 'object' || !('redis' in store)) return []
  const { url } = store.redis
  return [
    ...when(
      streamTokens.key === undefined,
      'store.redis',
      'is for several processes, and each refuses the stream tokens of the others: give all one streamTokens.key',
    ),
    ...when(
      typeof url === 'string' && url.startsWith('redis:') && !isLoopback(new URL(url).hostname),
      'store.redis.url',
      'is not encrypted: whoever is on the way reads players and connects as this program. Use rediss:',
    ),
  ]
}

/** One who declines matches again and again costs everybody else a wait each time. */
function aboutDeclining(queues: readonly Queue[]): Remark[] {
  return queues.flatMap(({ acceptance, cooldown }, queue) =>
    when(
      acceptance !== undefined && cooldown?.for.includes('declined') !== true,
      `queues.${queue}.acceptance`,
      'has no cooldown for players who decline: a few of them make all others wait longer',
    ),
  )
}

/** Something wrong or doubtful at a path of the file. */
interface Remark {
  readonly path: readonly string[]
  readonly message: string
}

/** Finds sections that contradict one another, each of which is valid by itself. */
export function contradictionsIn({ file, queues }: Parts): Remark[] {
  return [
    ...ofAlgorithms(file),
    ...ofKeys(file),
    ...ofPools(file),
    ...ofBrowser(file),
    ...ofWebhook(file),
    ...ofLobbies(file, queues),
  ]
}

function ofAlgorithms({ auth: { jwt } }: ConfigFile): Remark[] {
  if (jwt?.algorithms === undefined) return []
  const isShared = jwt.secret !== undefined
  const wrong = jwt.algorithms.findIndex((algorithm) => algorithm.startsWith('HS') !== isShared)
  if (wrong === -1) return []
  const message = isShared ? 'needs public keys (jwks), not a secret' : 'needs a shared secret, not public keys (jwks)'
  return [{ path: ['auth', 'jwt', 'algorithms', String(wrong)], message }]
}

const ofKeys = ({ auth: { keys } }: ConfigFile): Remark[] => namesGivenTwice(keys, ['auth', 'keys'])
const ofPools = ({ pools }: ConfigFile): Remark[] => namesGivenTwice(pools, ['pools'])

/** Attributes that players may choose, and by which nobody finds a server. */
function ofBrowser({ pools, browser }: ConfigFile): Remark[] {
  const declared = Object.keys(browser.attributes)
  return pools.flatMap(({ custom }, pool) =>
    (custom?.attributes ?? []).flatMap((name, index) => {
      if (declared.includes(name)) return []
      const message = `is none of the attributes of browser, got ${JSON.stringify(name)}${didYouMean(name, declared)}`
      return [{ path: ['pools', String(pool), 'custom', 'attributes', String(index)], message }]
    }),
  )
}

function namesGivenTwice(list: readonly { readonly name: string }[], path: readonly string[]): Remark[] {
  const names = list.map(({ name }) => name)
  return names.flatMap((name, index) => {
    const first = names.indexOf(name)
    if (first === index) return []
    return [{ path: [...path, String(index), 'name'], message: `is the name of ${path.join('.')}.${first} too` }]
  })
}

function ofWebhook({ webhook, listen }: ConfigFile): Remark[] {
  if (webhook.enabled !== true || listen.publicUrl !== undefined) return []
  return [{ path: ['webhook', 'enabled'], message: 'needs listen.publicUrl, at which the service finds this program' }]
}

function ofLobbies({ lobbies }: ConfigFile, queues: readonly Queue[]): Remark[] {
  const names = queues.map(({ name }) => name)
  if (lobbies.startAs === 'relay') {
    return lobbies.queue === undefined
      ? []
      : [{ path: ['lobbies', 'queue'], message: 'is only used with startAs: match' }]
  }
  if (lobbies.queue === undefined)
    return [{ path: ['lobbies', 'startAs'], message: 'needs lobbies.queue, the queue that the players then wait in' }]
  if (names.includes(lobbies.queue)) return []
  return [{ path: ['lobbies', 'queue'], message: `is none of the queues${didYouMean(lobbies.queue, names)}` }]
}
