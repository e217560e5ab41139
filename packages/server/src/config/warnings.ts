import { didYouMean, fetchedUrl } from '@muster/core/internal'
import type { Queue, RuleDefinition } from '@muster/matchmaker'
import { attributesComparedBy, ENROLLED, similarConstants } from '@muster/matchmaker/internal'
import type { ConfigFile } from './config.js'

interface WarningsInput {
  readonly file: ConfigFile
  readonly queues: readonly Queue[]
}

/** An error or a warning at a path of the file. */
interface Remark {
  readonly path: readonly string[]
  readonly message: string
}

/** Returns a remark for each path whose value is a message. A path with the value false gets none. */
const remarks = (found: Readonly<Record<string, string | false>>): Remark[] =>
  Object.entries(found).flatMap(([path, message]) => (message === false ? [] : [{ path: path.split('.'), message }]))

/** Finds settings that are allowed but may not be what the author meant. */
export function warningsAbout({ file, queues }: WarningsInput): Remark[] {
  return [
    ...aboutCallers(file),
    ...aboutConnections(file),
    ...aboutCosts(file),
    ...aboutStatements(file, queues),
    ...aboutAttributes(file, queues),
    ...aboutPlaces(file, queues),
    ...queues.flatMap((queue, index) => aboutQueue(queue, `queues.${index}`, file)),
    ...aboutPools(file, queues),
    ...aboutSources(file),
    ...aboutProcesses(file),
    ...remarks({
      launch: file.launch !== undefined && 'is obeyed by `muster dev` alone: elsewhere, `service` runs the servers',
    }),
  ]
}

const isLoopback = (host: string) => /^(localhost|127(\.\d+){3}|\[?::1\]?)$/.test(host)
const isPlain = (url: string | undefined) => {
  if (url === undefined) return false
  const { protocol, hostname } = new URL(url)
  return protocol === 'http:' && !isLoopback(hostname)
}

const hasPath = (url: string | undefined) => url !== undefined && new URL(url).pathname !== '/'

const isBlocked = (url: string | undefined) => url !== undefined && !fetchedUrl.safeParse(url).success

/** Returns the version at the end of a URL, such as `/v2`; undefined if there is none. */
export const endsInVersion = (url: string): string | undefined => /\/v\d+(?=\/*$)/i.exec(new URL(url).pathname)?.[0]

/** Returns true if clients outside of this machine can reach the players' listener at a public URL. */
export const isPublic = ({ publicUrl, admin }: Pick<ConfigFile['listen'], 'publicUrl' | 'admin'>): boolean =>
  admin === undefined && publicUrl !== undefined && !isLoopback(new URL(publicUrl).hostname)

function aboutCallers({ auth, console: page, telemetry: { metrics }, listen }: ConfigFile): Remark[] {
  const mayOpenConsole = auth.keys.some(({ role }) => role !== 'backend') || auth.jwt?.claims.role !== undefined
  const isClosed = isPublic(listen) && !metrics.open
  return remarks({
    auth:
      auth.jwt === undefined &&
      auth.shared === undefined &&
      auth.keys.length === 0 &&
      'lets nobody in: set jwt, shared or keys',
    console:
      page.enabled &&
      !mayOpenConsole &&
      'is on, but no auth key can open it: add one with role look or operate to auth.keys',
    'telemetry.metrics':
      metrics.enabled &&
      metrics.key === undefined &&
      (isClosed || !isLoopback(listen.admin?.host ?? listen.host)) &&
      (isClosed
        ? 'are shown to nobody, since there is a listen.publicUrl: give metrics.key or listen.admin, or set open: true'
        : 'are shown to everyone who reaches the program: give metrics.key, or keep /metrics behind a proxy'),
  })
}

function aboutConnections({ listen, service, profiles, auth, addresses }: ConfigFile): Remark[] {
  const hasProxies = addresses.trustedProxies.length > 0
  return remarks({
    'service.url': isPlain(service?.url)
      ? 'is not encrypted: the token is sent in plain text'
      : service !== undefined &&
        endsInVersion(service.url) !== undefined &&
        `ends in ${endsInVersion(service.url)}: the paths of the service begin with their own version, so leave it ` +
          'out; service.settings.createDeploymentPath has that of creates',
    'profiles.url': isPlain(profiles?.url) && 'is not encrypted: profiles can be changed on the way',
    'auth.jwt.jwks': isPlain(auth.jwt?.jwks) && 'is not encrypted: whoever changes keys on the way can log in',
    'listen.publicUrl': hasPath(listen.publicUrl)
      ? 'has a path, which the proxy must remove: the program serves its own paths at the root'
      : isBlocked(listen.publicUrl)
        ? 'has a port that browsers and fetch of Node.js refuse: pages and most game servers cannot call it'
        : isPlain(listen.publicUrl)
          ? 'is not encrypted: tokens of players are sent in plain text'
          : listen.publicUrl?.startsWith('https:') === true &&
            !hasProxies &&
            'has a proxy in front, which ends TLS, but addresses.trustedProxies is empty: all players seem to have ' +
              'the address of the proxy',
    'addresses.header':
      addresses.header !== 'x-forwarded-for' &&
      !hasProxies &&
      'has no effect without addresses.trustedProxies: the header is ignored',
  })
}

/** Returns what a restart without a store means for running servers, as the end of a sentence. */
function fateWithoutStore({ sources, service, pools }: Pick<ConfigFile, 'sources' | 'service' | 'pools'>): string {
  // Muster cannot list the servers of an allocator.
  const [unlisted] = Object.entries(sources).flatMap(([name, { allocator }]) => (allocator === undefined ? [] : [name]))
  if (unlisted !== undefined) return `, and never stops the running servers of the source ${unlisted}`
  if (service !== undefined) return ', and stops the servers of matches only later, as orphans'
  return pools.some(({ enrol = [] }) => enrol.length > 0) ? ', and ends the matches on own machines' : ''
}

function aboutCosts(config: ConfigFile): Remark[] {
  const { spending, store, matching, service } = config
  return remarks({
    'spending.maxServers': spending.maxServers === Infinity && 'sets no bound to what a mistake can cost',
    'spending.maxServersPerPlayer': spending.maxServersPerPlayer === Infinity && 'lets one player start any number',
    'matching.orphanGraceMs':
      matching.orphanGraceMs === Infinity && 'lets servers without a match run on, e.g. after a crash',
    store: store === 'memory' && `is memory: a restart loses the waiting tickets${fateWithoutStore(config)}`,
    'service.share':
      typeof store === 'object' &&
      'redis' in store &&
      (service?.share ?? 1) !== 1 &&
      'has no effect: Redis keeps the limits',
  })
}

/** Warns about attributes that a token or a profile states, but that players may state too. */
function aboutStatements({ auth, profiles }: ConfigFile, queues: readonly Queue[]): Remark[] {
  const claimed = new Set(Object.keys(auth.jwt?.claims.attributes ?? {}))
  const whenDown = profiles?.whenDown
  const known = new Set(typeof whenDown === 'object' ? Object.keys(whenDown.attributes ?? {}) : [])
  return queues.flatMap(({ playerMayState = [] }, queue) =>
    playerMayState.flatMap((name, index) => {
      const by = claimed.has(name) ? 'the token' : known.has(name) ? 'the profile' : undefined
      const message = `is also set by ${by}: a player for whom it sets no value can choose one`
      return remarks({ [`queues.${queue}.playerMayState.${index}`]: by !== undefined && message })
    }),
  )
}

/** Names that people mistake for the party's size. */
const LIKE_PARTY_SIZE = /^\$?party[_-]?size$/i
const PARTY_SIZE = '$partySize'

/** Warns about rules that compare an attribute which no ticket can have. */
function aboutAttributes({ auth, profiles }: ConfigFile, queues: readonly Queue[]): Remark[] {
  const claimed = Object.keys(auth.jwt?.claims.attributes ?? {})
  // Tickets are restricted to the known attributes only if neither a backend nor a profile can state others.
  const isClosed = auth.jwt !== undefined && profiles === undefined && auth.keys.every(({ role }) => role !== 'backend')
  return queues.flatMap(({ rules, playerMayState = [] }, queue) => {
    const stated = new Set([PARTY_SIZE, ...claimed, ...playerMayState])
    return rules.flatMap((rule, at) => {
      const unknown = attributesComparedBy(rule).filter((name) => !stated.has(name))
      const like = unknown.find((name) => LIKE_PARTY_SIZE.test(name))
      const [first] = unknown
      const path = `queues.${queue}.rules.${at}`
      if (like !== undefined)
        return remarks({ [path]: `compares ${like}, an attribute of that name: the size of a party is ${PARTY_SIZE}` })
      return remarks({
        [path]:
          isClosed &&
          first !== undefined &&
          `compares ${first}, which no ticket states: neither auth.jwt.claims.attributes nor playerMayState has it`,
      })
    })
  })
}

/**
 * Returns the kinds of a rule and of its nested rules. A distance rule that accepts players without a location is
 * omitted.
 */
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
  return remarks({
    ...(distance !== undefined &&
      locate === undefined && {
        [distance]:
          'needs the locations of players, but locate is not configured: only players who send coordinates ' +
          'have one',
      }),
    ...(latency !== undefined &&
      !beacons.enabled && { [latency]: 'uses latencies that nobody checks: beacons.enabled is false' }),
  })
}

/**
 * Warns about a queue. Its servers register and report joins through the ticket API, whose URL is in MM_API_URL unless
 * the probe states one.
 */
function aboutQueue(
  { deploy, pool, acceptance, cooldown, rules }: Queue,
  queue: string,
  { listen }: ConfigFile,
): Remark[] {
  const { probe, joinWithinMs } = deploy
  const similar = similarConstants(rules).map(({ rule, message }) => [`${queue}.rules.${rule}`, message])
  return remarks({
    ...(Object.fromEntries(similar) as Readonly<Record<string, string>>),
    [`${queue}.deploy.probe`]:
      // A queue with a pool deploys nothing itself: `aboutPools` reports the `deploy` of the pool.
      pool === undefined &&
      probe?.kind === 'registration' &&
      probe.url === undefined &&
      listen.publicUrl === undefined &&
      'gives servers no URL to register at: set its url, or listen.publicUrl',
    [`${queue}.deploy.joinWithinMs`]:
      joinWithinMs !== undefined &&
      listen.publicUrl === undefined &&
      'ends every match, because servers have no URL to report players to: set listen.publicUrl',
    // Without a cooldown, a player who keeps declining matches makes the other players wait again each time.
    [`${queue}.acceptance`]:
      acceptance !== undefined &&
      cooldown?.for.includes('declined') !== true &&
      'has no cooldown for players who decline: a few of them make all others wait longer',
  })
}

/** Warns about pools. Their servers register through the ticket API, whose URL is in MUSTER_URL. */
function aboutPools(file: ConfigFile, queues: readonly Queue[]): Remark[] {
  const { pools, listen, spending, store, servers, results } = file
  // Servers that enrol have the URL and a key from whoever starts them, so they need neither again.
  const creates = pools.some(({ deploy, source }) => deploy !== undefined && source !== ENROLLED)
  return [
    ...remarks({
      pools:
        creates && listen.publicUrl === undefined && 'give their servers no URL to register at: set listen.publicUrl',
    }),
    ...remarks({
      pools:
        creates &&
        store === 'memory' &&
        servers === undefined &&
        'lose their servers at a restart, because the tokens are lost: set store, or servers.secret',
      'results.url': isPlain(results?.url) && 'is not encrypted: results and ids of players are sent as they are',
    }),
    ...pools.flatMap(({ name, warm }, index) =>
      remarks({
        [`pools.${index}`]: !queues.some(({ pool }) => pool === name) && 'is used by no queue',
        [`pools.${index}.warm.max`]:
          warm !== undefined &&
          warm.max >= spending.maxServers &&
          `leaves no server for matches: spending.maxServers is ${spending.maxServers}`,
      }),
    ),
  ]
}

/** Returns a message if the port range of a source has fewer ports than `max` servers need; otherwise false. */
function tooFewPorts({ ports, portRange, max }: NonNullable<ConfigFile['sources'][string]['launch']>): string | false {
  const [there, needed] = [portRange.to - portRange.from + 1, max * Object.keys(ports).length]
  return there < needed && `has ${there} ports, but ${max} servers need ${needed}`
}

/**
 * Warns about pools whose settings an allocator does not get: it gets only an application, a version, locations and
 * variables.
 */
function aboutSources({ pools, sources }: ConfigFile): Remark[] {
  return [
    ...Object.entries(sources).flatMap(([name, { allocator, launch }]) =>
      remarks({
        [`sources.${name}.launch.portRange`]: launch !== undefined && tooFewPorts(launch),
        [`sources.${name}`]:
          !pools.some(({ source }) => source === name) && 'is used by no pool: remove it once it has no server left',
        [`sources.${name}.allocator`]: isPlain(allocator) && 'is not encrypted: tokens of servers are sent as they are',
      }),
    ),
    ...pools.flatMap(({ source, deploy: { tags, requireCachedLocations } }, index) =>
      remarks({
        [`pools.${index}.deploy.tags`]:
          source !== undefined && tags.length > 0 && `are not sent: the source ${source} knows no tags`,
        [`pools.${index}.deploy.requireCachedLocations`]:
          source !== undefined && requireCachedLocations && `changes nothing: the source ${source} chooses the place`,
      }),
    ),
  ]
}

/** Warns about settings that matter only if several processes share one Redis. */
function aboutProcesses({ store, streamTokens }: ConfigFile): Remark[] {
  if (typeof store !== 'object' || !('redis' in store)) return []
  const { url } = store.redis
  return remarks({
    'store.redis':
      streamTokens.key === undefined &&
      'is for several processes, and each refuses the stream tokens of the others: give all one streamTokens.key',
    'store.redis.url':
      typeof url === 'string' &&
      url.startsWith('redis:') &&
      !isLoopback(new URL(url).hostname) &&
      'is not encrypted: others on the network can read players and connect as this program. Use rediss:',
  })
}

/** Finds sections that are valid alone but contradict one another. */
export function contradictionsIn({ file, queues }: WarningsInput): Remark[] {
  const { auth, pools, webhook, listen } = file
  return [
    ...ofAlgorithms(file),
    ...namesGivenTwice(auth.keys, 'auth.keys'),
    ...namesGivenTwice(pools, 'pools'),
    ...ofSources(file),
    ...withoutService(file, queues),
    ...ofBrowser(file),
    ...remarks({
      'webhook.enabled':
        webhook.enabled === true &&
        listen.publicUrl === undefined &&
        'needs listen.publicUrl, at which the service finds this program',
    }),
    ...ofLobbies(file, queues),
  ]
}

function ofAlgorithms({ auth: { jwt } }: ConfigFile): Remark[] {
  const isShared = jwt?.secret !== undefined
  const wrong = jwt?.algorithms?.findIndex((algorithm) => algorithm.startsWith('HS') !== isShared) ?? -1
  const message = isShared ? 'needs public keys (jwks), not a secret' : 'needs a shared secret, not public keys (jwks)'
  return remarks({ [`auth.jwt.algorithms.${wrong}`]: wrong !== -1 && message })
}

/** Finds pools whose source is not configured, and sources that other processes cannot use. */
function ofSources({ pools, sources, store }: ConfigFile): Remark[] {
  const names = Object.keys(sources)
  const isShared = typeof store === 'object' && 'redis' in store
  const launched = Object.entries(sources).flatMap(([name, { launch }]) =>
    remarks({
      [`sources.${name}.launch`]:
        launch !== undefined &&
        isShared &&
        'needs a store of one process, a folder or memory: with Redis another machine may lead and find none of them',
    }),
  )
  const unknown = pools.flatMap(({ source }, index) => {
    if (source === undefined || source === ENROLLED || names.includes(source)) return []
    const message = `is none of the sources, got ${JSON.stringify(source)}${didYouMean(source, names)}`
    return remarks({ [`pools.${index}.source`]: message })
  })
  return [...launched, ...unknown]
}

/**
 * The sections that may need the deployment service. `pools` and `sources` may have the file's form or the program's
 * form.
 */
interface ServedParts extends Pick<ConfigFile, 'lobbies' | 'webhook'> {
  readonly service?: unknown
  readonly pools: readonly Pick<ConfigFile['pools'][number], 'source' | 'deploy'>[]
  readonly sources: object
}

/** Finds sections that need the deployment service, if no service is configured. */
export function withoutService(
  { service, pools, sources, lobbies, webhook }: ServedParts,
  queues: readonly Queue[],
): Remark[] {
  if (service !== undefined) return []
  const names = Object.keys(sources).map((name) => JSON.stringify(name))
  const other = names.length === 0 ? 'or a source, or enrol without deploy' : `or a source: ${names.join(', ')}`
  return [
    ...queues.flatMap(({ pool, deploy: { application, version } }, index) =>
      remarks({
        [`queues.${index}.deploy`]:
          pool === undefined &&
          `needs the deployment service, but it is not set, got ${application} ${version}. Set service, or use a pool`,
      }),
    ),
    ...pools.flatMap(({ source, deploy: { application, version } }, index) =>
      remarks({
        [`pools.${index}.deploy`]:
          source === undefined &&
          `needs the deployment service, but it is not set, got ${application} ${version}. Set service, ${other}`,
      }),
    ),
    ...remarks({
      'lobbies.startAs':
        lobbies.enabled &&
        lobbies.startAs === 'relay' &&
        'needs the deployment service for relay sessions, got relay. Set service',
      'webhook.enabled':
        webhook.enabled === true && 'needs the deployment service, which sends webhooks, got true. Set service',
    }),
  ]
}

/** Finds attributes that servers may state but that the server browser cannot filter by. */
function ofBrowser({ pools, browser }: ConfigFile): Remark[] {
  const declared = Object.keys(browser.attributes)
  return pools.flatMap(({ custom }, pool) =>
    (custom?.attributes ?? []).flatMap((name, index) => {
      const message = `is none of the attributes of browser, got ${JSON.stringify(name)}${didYouMean(name, declared)}`
      return remarks({ [`pools.${pool}.custom.attributes.${index}`]: !declared.includes(name) && message })
    }),
  )
}

/** Finds entries of a list whose name an earlier entry has. */
export function namesGivenTwice(list: readonly { readonly name?: unknown }[], path: string): Remark[] {
  const names = list.map(({ name }) => name)
  return names.flatMap((name, index) => {
    const first = names.indexOf(name)
    const isTwice = typeof name === 'string' && first !== index
    return remarks({ [`${path}.${index}.name`]: isTwice && `is the name of ${path}.${first} too` })
  })
}

function ofLobbies({ lobbies: { startAs, queue } }: ConfigFile, queues: readonly Queue[]): Remark[] {
  const names = queues.map(({ name }) => name)
  if (startAs === 'relay')
    return remarks({ 'lobbies.queue': queue !== undefined && 'is only used with startAs: match' })
  if (queue === undefined)
    return remarks({ 'lobbies.startAs': 'needs lobbies.queue, the queue that the players then wait in' })
  const message = `is none of the queues${didYouMean(queue, names)}`
  return remarks({ 'lobbies.queue': !names.includes(queue) && message })
}
