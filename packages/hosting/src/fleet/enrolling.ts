import { Conflict } from '@muster/core'
import type { Clock, Random } from '@muster/core/clock'
import { growingTo, newId } from '@muster/core/internal'
import { LRUCache } from 'lru-cache'
import type { Fleet } from './fleet.js'
import { createKnocking } from './knocking.js'
import type { Prober } from './port-probe.js'
import {
  type DrainReason,
  type EnrolmentRequest,
  type GameServers,
  LOST_AFTER_MS,
  type Registered,
  ServerGone,
  type ServerKeys,
  type ServerRegistration,
} from '../game-servers/index.js'
import {
  digestOf,
  type Enrolment,
  enrolmentIdOf,
  enrolmentOf,
  hasDigest,
  mayBeAt,
  mayRun,
  type Pool,
  type Pools,
} from '../pools/index.js'
import {
  type Assignment,
  type Enrolled,
  isEnrolled,
  newEnrolledServer,
  type Server,
  serverIntent,
  type StopReason,
} from '../records/index.js'
import type { ServerLifecycle } from './server-lifecycle.js'
import type { ServerLogWriter } from '../store/index.js'

/** Why a process may not add itself to a pool. */
export type EnrolmentFault = 'wrong-key' | 'wrong-build' | 'address' | 'full' | 'name-in-use' | 'key-in-use'

/** A process that Muster has not started may not add itself to a pool. */
export class EnrolmentRefused extends Conflict {
  readonly code: EnrolmentFault

  static {
    this.prototype.name = 'EnrolmentRefused'
  }

  constructor(code: EnrolmentFault, message: string) {
    super(message)
    this.code = code
  }
}

/** The answer to an enrolment. */
export interface EnrolledServer extends Registered {
  /** With which the server speaks from now on. */
  readonly token: string
}

/** What a matchmaker does with servers that it has not started. */
export interface EnrolmentCommands {
  /** Whether it is a key of a pool's `enrol`; called before a request's body is read. */
  isEnrolmentKey(key: string): boolean
  /**
   * Makes a game server of a process that Muster has not started, by a key of a pool's `enrol`. Resolves with its token
   * once the store has recorded it. The same process again gets the same answer. A restarted process is another server:
   * it ends the one that had its name, and was not heard for 25 s.
   * @param from where the request comes from
   * @throws {EnrolmentRefused}; {ServerGone} if this process was a server that has ended; {Unavailable} if the store
   *   cannot be written now: enrol again
   */
  enrolServer(key: string, request: EnrolmentRequest, from?: string): Promise<EnrolledServer>
  /**
   * Stops all servers that came with a key that is not in the configuration any more: their matches are over, and their
   * tokens are void. Resolves when the store has recorded it. Repeating the call changes nothing.
   * @param keyId the first 8 hex digits of the key's SHA-256
   * @throws {EnrolmentRefused} while the key is in the configuration; {Unavailable} if the store cannot be written now
   */
  revokeEnrolment(keyId: string): Promise<void>
}

interface EnrollingOptions {
  readonly pools: Pick<Pools, 'definitions' | 'find' | 'orderOf' | 'adopted' | 'up'>
  readonly fleet: Pick<Fleet, 'add' | 'all' | 'enter' | 'identify'>
  readonly gameServers: Pick<GameServers, 'find' | 'isExpected' | 'register'>
  readonly lifecycle: Pick<ServerLifecycle, 'listened' | 'listens'>
  readonly writer: Pick<ServerLogWriter, 'note'>
  readonly keys: Pick<ServerKeys, 'knockOf' | 'processOf' | 'tokenOf'>
  readonly clock: Pick<Clock, 'now' | 'sleep'>
  readonly prober: Prober
  readonly random: Random
  readonly drop: (server: Server, reason: StopReason) => void
  /** A server is not where it says, or nobody can reach it. */
  readonly problem: (server: Server, error: Error) => void
}

/** Servers remembered that have ended (our choice). */
const REMEMBERED = 10_000

/** Servers that Muster has not started, which add themselves to a pool with a key of it. */
export type Enrolling = ReturnType<typeof createEnrolling>

export function createEnrolling(options: EnrollingOptions) {
  const { pools, fleet, gameServers, lifecycle, writer, keys, clock, prober, random, drop, problem } = options
  /** Why servers have ended lately, by their ids and by the names of their processes, which do not come back. */
  const ended = new LRUCache<string, StopReason>(growingTo(REMEMBERED))

  const goneOf = (name: string) =>
    new ServerGone(
      ended.get(name) === 'not-listening'
        ? 'Muster knocked at this server, and it has not proved its address: nobody could play on it. End its process.'
        : 'This server is not wanted any more. End its process.',
    )

  const find = (key: string): { readonly pool: Pool; readonly enrolment: Enrolment } | undefined => {
    // Digests tell nothing of a key by the time that it takes to compare them.
    const digest = digestOf(key)
    for (const pool of pools.definitions())
      for (const enrolment of pool.enrol) if (hasDigest(enrolment, digest)) return { pool, enrolment }
    return undefined
  }

  const processIn = ({ id, enrolled }: Server) => enrolled?.process ?? id
  const ofProcess = (process: string): Server | undefined => {
    for (const server of fleet.all()) if (isEnrolled(server) && processIn(server) === process) return server
    return undefined
  }

  const withKey = (keyId: string): readonly Server[] =>
    [...fleet.all()].filter(({ enrolled, unwanted }) => enrolled?.key === keyId && unwanted === undefined)

  /** One that a restart of ours has made silent is spared as long as one that is silent by itself. */
  const isHeard = ({ id }: Server) => {
    const seenAt = gameServers.find(id)?.seenAt
    return seenAt === undefined ? gameServers.isExpected(id) : clock.now() - seenAt < LOST_AFTER_MS
  }

  /** What the configuration says of a server counts, whatever it says of itself. */
  const withinTerms = (
    registration: ServerRegistration,
    { matches }: Pick<Enrolment, 'matches'>,
    { build }: Enrolled,
  ): ServerRegistration => ({ ...registration, build, matches: Math.min(registration.matches, matches) })

  const assertFits = (pool: Pool, enrolment: Enrolment, request: EnrolmentRequest, host: string, from?: string) => {
    if (!mayRun(pool, enrolment, request.build)) {
      const wanted = enrolment.builds ?? [pool.deploy.version]
      const message = `build: must be ${wanted.map((one) => JSON.stringify(one)).join(' or ')}`
      throw new EnrolmentRefused('wrong-build', `${message}, got ${JSON.stringify(request.build ?? null)}`)
    }
    const port = enrolment.knock?.port
    if (port !== undefined && !Object.hasOwn(request.address?.ports ?? {}, port))
      throw new EnrolmentRefused('address', `address.ports: must have ${JSON.stringify(port)}, where Muster knocks`)
    if (mayBeAt(enrolment, host, from)) return
    const where = enrolment.hosts === undefined ? 'where the request comes from' : '`hosts` of its key'
    throw new EnrolmentRefused('address', `address.host: must be within ${where}, got ${JSON.stringify(host)}`)
  }

  /** @returns the server that had the name, if there is one */
  const assertRoom = (enrolled: Enrolled, max: number): Server | undefined => {
    const present = withKey(enrolled.key)
    const before = present.find((one) => one.enrolled?.name === enrolled.name)
    if (before !== undefined && isHeard(before)) {
      const message = `name: another process has the name ${JSON.stringify(enrolled.name)}, and was heard within 25 s`
      throw new EnrolmentRefused('name-in-use', message)
    }
    if (before === undefined && present.length >= max)
      throw new EnrolmentRefused('full', `There are ${max} servers with this key: as many as it may have.`)
    return before
  }

  const knocking = createKnocking({
    prober,
    clock,
    textOf: ({ id }, port) => keys.knockOf(id, port),
    probeOf: (server) => {
      const enrolment = enrolmentIn(server)
      return enrolment === undefined ? 'gone' : enrolment.knock
    },
    proved: (server) => {
      lifecycle.listens(server)
      pools.up(server)
    },
    failed: (server, { kind, port }, knocks) => {
      const { name = '', key = '' } = server.enrolled ?? {}
      const who = `Server ${JSON.stringify(name)} of the key ${key}`
      const what = kind === 'tcp' ? 'no connection was accepted' : 'no report has repeated a datagram'
      problem(server, new Error(`${who}: knocked ${knocks} times at its port ${JSON.stringify(port)}, and ${what}.`))
      lifecycle.listened(server, false)
    },
  })
  const enrolmentIn = ({ pool: name, enrolled }: Server): Enrolment | undefined => {
    const pool = pools.find(name ?? '')?.definition
    return pool && enrolled && enrolmentOf(pool, enrolled)
  }
  /** It is where it says once it has proved that, where its key demands it. */
  const locate = (server: Server, assignment: Assignment) => {
    server.assignment = assignment
    server.isLocated = true
    fleet.enter(server, 'warming')
    if (enrolmentIn(server)?.knock === undefined) lifecycle.listens(server)
    else knocking.begin(server, assignment)
  }

  const add = (pool: Pool, terms: Enrolled, assignment: Assignment, drainAsked: boolean): Server => {
    // Never that of a server before, also not of the same process: its token and its players' tokens end with it.
    const id = `e-${newId(random)}`
    const order = pools.orderOf(pool.name)
    if (order === undefined) throw new EnrolmentRefused('wrong-key', 'The pool of this key is gone.')
    const at = { ...assignment, server: id }
    const server = newEnrolledServer({ id, pool: pool.name, at: clock.now(), enrolled: { ...terms, at } }, order)
    fleet.add(server)
    fleet.identify(server, id)
    const { latitude = 0, longitude = 0 } = assignment.location ?? {}
    pools.adopted(server, clock.now(), { latitude, longitude })
    server.drainAsked = drainAsked
    const draining = drainAsked ? [{ kind: 'draining' as const, serverId: id }] : []
    void writer.note(serverIntent(server), { kind: 'created', serverId: id, requestId: id }, ...draining)
    locate(server, at)
    return server
  }

  const register = (server: Server, enrolment: Enrolment, request: EnrolmentRequest): EnrolledServer => {
    const { name: _, address: __, deployment: ___, ...registration } = request
    const registered = gameServers.register(
      server,
      withinTerms(registration, enrolment, server.enrolled ?? { key: '', name: '' }),
    )
    return { ...registered, token: keys.tokenOf(registered.id) }
  }

  return {
    /** Whether it is a key of a pool. */
    isEnrolmentKey: (key: string): boolean => find(key) !== undefined,
    /**
     * Makes a server of the process that has this key. The same process again is the same server; a restarted one is
     * another, and ends the one before it. It is safe once the server's record is written.
     * @param from where the request comes from
     * @throws {EnrolmentRefused}; {ServerGone} for a process whose server has ended
     */
    enrol: (secret: string, request: EnrolmentRequest, from: string | undefined): EnrolledServer => {
      const { pool, enrolment } = find(secret) ?? {}
      if (pool === undefined || enrolment === undefined)
        throw new EnrolmentRefused('wrong-key', 'This is the key of no pool.')
      const { build, instance, address = { ports: {} } } = request
      const host = address.host ?? from
      if (host === undefined) throw new EnrolmentRefused('address', 'address.host: must be given')
      assertFits(pool, enrolment, request, host, from)
      const [key, name] = [enrolmentIdOf(enrolment), request.name ?? host]
      const process = keys.processOf(key, name, instance)
      const enrolled = { key, name, build, process }
      const same = ofProcess(process)
      if (same !== undefined) return register(same, enrolment, request)
      if (ended.has(process)) throw goneOf(process)
      const before = assertRoom(enrolled, enrolment.max)
      // Otherwise the supervisor of a machine would undo the drain of an operator.
      const drainAsked = before?.drainAsked === true
      const server = add(pool, enrolled, assignmentOf(pool, enrolment, host, address.ports), drainAsked)
      if (before !== undefined) drop(before, 'lost')
      return register(server, enrolment, request)
    },
    /** What a server says of itself when it registers again, within the terms of its key. */
    withinTerms: (server: Server, registration: ServerRegistration): ServerRegistration => {
      const { enrolled } = server
      if (enrolled === undefined) return registration
      return withinTerms(registration, enrolmentIn(server) ?? { matches: registration.matches }, enrolled)
    },
    /** A server of an earlier process that nobody was sent to yet. It may have proved its address; it does so again. */
    adopt: locate,
    /** Whether nobody is sent to a server yet. */
    isKnocked: knocking.isAwaited,
    knockOf: knocking.told,
    heard: knocking.heard,
    /** Nothing is left of a server. */
    ended: (server: Server) => {
      if (isEnrolled(server))
        for (const name of [server.id, processIn(server)]) ended.set(name, server.unwanted ?? 'ended')
    },
    /** What a process is told whose server is not there. @param id what its token proves */
    goneOf,
    advance: knocking.advance,
    close: knocking.close,
    /**
     * Stops all servers that came with a key, and ends their matches.
     * @returns what has to be written before that is safe
     * @throws {EnrolmentRefused} while the key is in the configuration: whoever has it would add servers again
     */
    revoke: (keyId: string): readonly string[] => {
      if (pools.definitions().some(({ enrol }) => enrol.some((one) => enrolmentIdOf(one) === keyId))) {
        const message = `The key ${keyId} is in the configuration. Remove it there first: it could add servers again.`
        throw new EnrolmentRefused('key-in-use', message)
      }
      return withKey(keyId).flatMap((server) => {
        const about = [server.id, ...Array.from(server.guests, ({ id }) => id)]
        drop(server, 'stopped')
        return about
      })
    },
    /** A server serves nothing, and takes no match any more; or one that has enrolled is silent. */
    spent: (server: Server, reason: DrainReason): void => {
      // One that an operator drains stays while it is heard: its supervisor would bring it back.
      if (isEnrolled(server) && reason === 'operator') return
      const isLost = isEnrolled(server) && reason === 'silent'
      drop(server, reason === 'surplus' ? 'surplus' : isLost ? 'lost' : 'drained')
    },
  }
}

function assignmentOf(
  { places = [] }: Pool,
  { place: name }: Enrolment,
  host: string,
  ports: NonNullable<EnrolmentRequest['address']>['ports'],
): Assignment {
  const place = places.find((one) => one.name === name)
  const unknown = undefined
  return {
    fqdn: host,
    publicIp: unknown,
    ports: Object.fromEntries(
      Object.entries(ports).map(([port, { port: external, protocol }]) => [
        port,
        { internal: external, external, protocol, link: `${host}:${external}` },
      ]),
    ),
    location: place && {
      city: name,
      country: unknown,
      continent: unknown,
      administrativeDivision: unknown,
      timezone: unknown,
      latitude: place.latitude,
      longitude: place.longitude,
    },
    promised: unknown,
  }
}
