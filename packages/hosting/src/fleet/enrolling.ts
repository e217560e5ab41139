import { Conflict } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import type { Fleet } from './fleet.js'
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
  readonly pools: Pick<Pools, 'definitions' | 'find' | 'orderOf' | 'adopted'>
  readonly fleet: Pick<Fleet, 'add' | 'all' | 'enter' | 'find' | 'identify'>
  readonly gameServers: Pick<GameServers, 'find' | 'isExpected' | 'register'>
  readonly lifecycle: Pick<ServerLifecycle, 'listens'>
  readonly writer: Pick<ServerLogWriter, 'note'>
  readonly keys: Pick<ServerKeys, 'enrolledId' | 'tokenOf'>
  readonly clock: Pick<Clock, 'now'>
  /** Whether the end of this server was decided lately. */
  readonly hasEnded: (id: string) => boolean
  readonly drop: (server: Server, reason: StopReason) => void
}

/** Servers that Muster has not started add themselves to a pool, each with a key of it. */
export function createEnrolling(options: EnrollingOptions) {
  const { pools, fleet, gameServers, lifecycle, writer, keys, clock, hasEnded, drop } = options

  const find = (key: string): { readonly pool: Pool; readonly enrolment: Enrolment } | undefined => {
    // Digests tell nothing of a key by the time that it takes to compare them.
    const digest = digestOf(key)
    for (const pool of pools.definitions())
      for (const enrolment of pool.enrol) if (hasDigest(enrolment, digest)) return { pool, enrolment }
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

  const add = (id: string, pool: Pool, enrolled: Enrolled, assignment: Assignment): Server => {
    const order = pools.orderOf(pool.name)
    if (order === undefined) throw new EnrolmentRefused('wrong-key', 'The pool of this key is gone.')
    const server = newEnrolledServer({ id, pool: pool.name, at: clock.now(), enrolled }, order)
    server.assignment = { ...assignment, server: id }
    server.isLocated = true
    fleet.add(server)
    fleet.identify(server, id)
    fleet.enter(server, 'warming')
    const { latitude = 0, longitude = 0 } = assignment.location ?? {}
    pools.adopted(server, clock.now(), { latitude, longitude })
    void writer.note(serverIntent(server))
    void writer.note({ kind: 'created', matchId: id, requestId: id })
    lifecycle.listens(server)
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
    enrol: (key: string, request: EnrolmentRequest, from: string | undefined): EnrolledServer => {
      const { pool, enrolment } = find(key) ?? {}
      if (pool === undefined || enrolment === undefined)
        throw new EnrolmentRefused('wrong-key', 'This is the key of no pool.')
      const { build, instance, address = { ports: {} } } = request
      const host = address.host ?? from
      if (host === undefined) throw new EnrolmentRefused('address', 'address.host: must be given')
      assertFits(pool, enrolment, request, host, from)
      const enrolled = { key: enrolmentIdOf(enrolment), name: request.name ?? host, build }
      const id = keys.enrolledId(enrolled.key, enrolled.name, instance)
      const same = fleet.find(id)
      if (same !== undefined) return register(same, enrolment, request)
      if (hasEnded(id)) throw new ServerGone('This server is not wanted any more. End its process.')
      const before = assertRoom(enrolled, enrolment.max)
      const server = add(id, pool, enrolled, assignmentOf(pool, enrolment, host, address.ports))
      // Otherwise the supervisor of a machine would undo the drain of an operator.
      if (before?.drainAsked === true) {
        server.drainAsked = true
        void writer.note({ kind: 'draining', matchId: id })
      }
      if (before !== undefined) drop(before, 'lost')
      return register(server, enrolment, request)
    },
    /** What a server says of itself when it registers again, within the terms of its key. */
    withinTerms: (server: Server, registration: ServerRegistration): ServerRegistration => {
      const pool = pools.find(server.pool ?? '')?.definition
      const { enrolled } = server
      if (enrolled === undefined) return registration
      const enrolment = pool && enrolmentOf(pool, enrolled)
      return withinTerms(registration, enrolment ?? { matches: registration.matches }, enrolled)
    },
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
