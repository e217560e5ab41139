import { clientAddress, type HttpHandler } from '@muster/core/http'
import { createTicketApi, type GroupStore, type TicketApiOptions, type TicketService } from '@muster/matchmaker'
import { type AuthOptions, createAuth } from '../auth/index.js'
import type { Config } from '../config/index.js'
import { createFetchProfiles, type FetchedProfiles } from '../profiles/fetch-profiles.js'
import type { Matching, MatchingOptions, OpenLobbies } from './stores/index.js'

/** Returns the section `auth` with its secrets as plain strings. */
function authOptions({ auth }: Config, devToken: string | undefined): AuthOptions {
  const { jwt, shared, keys } = auth
  return {
    jwt: jwt && { ...jwt, secret: jwt.secret?.reveal() },
    keys: keys.map(({ name, role, key }) => ({ name, role, key: key.reveal() })),
    shared: shared && { token: shared.token.reveal(), key: shared.key.reveal() },
    devToken,
  }
}

type Members = Readonly<Record<string, unknown>>

/** An OpenAPI document, as `openApiDocument` creates it. */
interface Document {
  readonly tags: readonly { readonly name: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Members>>>>
  readonly components: Readonly<Record<string, Members>>
}

/**
 * Adds the paths and schemas of `second` to `first`. Operation ids of `second` get the prefix, because ids must be
 * unique.
 */
function mergeDocuments<First extends Document>(first: First, second: Document, prefix: string): First {
  const paths = Object.entries(second.paths).map(
    ([path, operations]) => [path, mapValues(operations, (operation) => renamed(operation, prefix))] as const,
  )
  const known = new Set(first.tags.map(({ name }) => name))
  return {
    ...first,
    tags: [...first.tags, ...second.tags.filter(({ name }) => !known.has(name))],
    paths: { ...Object.fromEntries(paths), ...first.paths },
    components: mapValues({ ...second.components, ...first.components }, (_, kind) => ({
      ...second.components[kind],
      ...first.components[kind],
    })),
  }
}

const renamed = (operation: Members, prefix: string): Members => ({
  ...operation,
  operationId: `${prefix}_${String(operation['operationId'])}`,
})

const mapValues = <Value, Mapped>(
  object: Readonly<Record<string, Value>>,
  map: (value: Value, key: string) => Mapped,
): Record<string, Mapped> => Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value, key)]))

/** The parts that the APIs need. A reload of the configuration does not replace them. */
export interface ApiParts extends Pick<MatchingOptions, 'client' | 'locate' | 'clock' | 'onProblem'> {
  readonly service: TicketService
  readonly shared: Matching['shared']
  readonly groups: GroupStore
  readonly lobbies: OpenLobbies | undefined
  /**
   * Signs stream tokens if the configuration has no key. The same key is used after a reload, so that tokens stay
   * valid.
   */
  readonly streamKey: Uint8Array
  readonly devToken: string | undefined
  /** Called with the reason for each rejected token. */
  readonly onRefused: (reason: string) => void
  /** Called after each operator's command that a backend has sent. */
  readonly acted: NonNullable<TicketApiOptions['acted']>
}

/** The APIs, built from one version of the configuration. */
export type Apis = ReturnType<typeof createApis>

/**
 * Builds the APIs.
 * @param signed the check of signed tokens of the previous APIs, if `auth.jwt` is the same
 * @throws {InvalidInput} or RangeError naming the invalid option
 */
export function createApis(config: Config, parts: ApiParts, signed?: ReturnType<typeof createAuth>['signed']) {
  const { service, shared, client, clock, onProblem } = parts
  const deps = { clock, onProblem: (error: Error) => onProblem('authenticate', error), onRefused: parts.onRefused }
  const auth = createAuth(authOptions(config, parts.devToken), deps, signed)
  const address = clientAddress(config.addresses)
  const cors = config.cors.origins.length === 0 ? undefined : { origins: config.cors.origins }
  const profiles =
    config.profiles && createFetchProfiles({ ...config.profiles, token: config.profiles.token?.reveal() })
  const common = { address, cors, limitStore: shared.limitStore, clock }
  const { groupIdleMs, delayMs: _, ...limits } = config.limits
  const tickets = createTicketApi(service, {
    ...common,
    authenticate: auth.tickets,
    profile: profiles && profileOptions(config, profiles),
    beacons: config.beacons.enabled && client ? () => client.locations.beacons.all() : undefined,
    locate: parts.locate,
    inspect: config.inspect,
    limits,
    groupIdleMs,
    streamTokens: {
      key: config.streamTokens.key?.reveal() ?? parts.streamKey,
      lifetimeMs: config.streamTokens.lifetimeMs,
    },
    groups: parts.groups,
    lobbies: parts.lobbies && ((playerId) => parts.lobbies?.lobbies.ofPlayer(playerId) ?? []),
    acted: parts.acted,
    onError: (error) => onProblem('tickets', error),
  })
  const lobbies = parts.lobbies?.createApi({
    ...common,
    authenticate: auth.lobbies,
    onError: (error) => onProblem('lobbies', error),
  })
  return {
    tickets,
    lobbies,
    /** Answers requests for /openapi.json. */
    document: lobbies === undefined ? tickets : mergedDocument(tickets, lobbies),
    auth,
    address,
    /** Closes the parts that belong to this version of the configuration. Running requests end normally. */
    close: async () => profiles?.close(),
  }
}

function profileOptions({ profiles }: Config, { resolve }: FetchedProfiles): TicketApiOptions['profile'] {
  if (profiles === undefined) return undefined
  const { timeoutMs, cacheMs, cacheSize, perRequest, whenDown } = profiles
  const whenFailed = whenDown === 'without' ? {} : whenDown
  return { resolve, timeoutMs, cacheMs, cacheSize, batchSize: perRequest, whenFailed }
}

/**
 * Creates the handler of the OpenAPI document of both APIs. The ticket API decides about each request, so its limits
 * apply. The document is created once, because that takes milliseconds and anybody may request it.
 */
function mergedDocument(tickets: HttpHandler, lobbies: HttpHandler): HttpHandler {
  const read = async (answer: Response) => (await answer.json()) as Parameters<typeof mergeDocuments>[0]
  let text: string | undefined
  return async (request, connection) => {
    const answer = await tickets(request, connection)
    if (answer.status !== 200 || answer.body === null) return answer
    const own = async () => read(await lobbies(new Request('http://localhost/openapi.json')))
    text ??= JSON.stringify(mergeDocuments(await read(answer), await own(), 'lobbies'))
    return new Response(text, { headers: answer.headers })
  }
}

/** The current configuration and its APIs. A reload replaces both within one turn of the event loop. */
export class ApisInForce {
  config: Config
  /** Set before the first request. A plain property, because every request reads it and a getter would be slower. */
  apis!: Apis

  constructor(config: Config) {
    this.config = config
  }
}
