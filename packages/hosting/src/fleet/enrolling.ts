import { Conflict } from '@muster/core'
import { deepFreeze, growingTo, newId } from '@muster/core/internal'
import { LRUCache } from 'lru-cache'
import type { AllocatorContext } from './allocator-context.js'
import { createReachabilityCheck } from './reachability-check.js'
import type { Prober } from './port-probe.js'
import { type GameServers, LOST_AFTER_MS, type Registered, ServerGone } from '../game-servers/index.js'
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
  assignmentAt,
  type DrainReason,
  type Enrolled,
  type EnrolmentRequest,
  isEnrolled,
  locationAt,
  newEnrolledServer,
  type Server,
  serverIntent,
  type ServerRegistration,
  type StopReason,
} from '../records/index.js'
import type { ServerLifecycle } from './server-lifecycle.js'

/** Why a process may not enrol. */
export type EnrolmentFault = 'wrong-key' | 'wrong-build' | 'address' | 'full' | 'name-in-use' | 'key-in-use'

/** Thrown if a process may not enrol. */
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

/** The response to an enrolment. */
export interface EnrolledServer extends Registered {
  /** The token that the server uses from now on. */
  readonly token: string
}

/** Commands about servers that Muster has not started. */
export interface EnrolmentCommands {
  /** True if a pool's `enrol` has this key. Called before a request's body is read. */
  isEnrolmentKey(key: string): boolean
  /**
   * Adds a process that Muster has not started to the pool whose `enrol` has this key. Resolves with the server's
   * token once the store has the server. A repeated call of the same process has the same result. A restarted process
   * becomes a new server. If its name belonged to a server that has been silent for 25 s, that server ends.
   * @param from address of the request's sender
   * @throws {EnrolmentRefused}; {ServerGone} if this process was a server that has ended; {Unavailable} if the store
   * cannot be written now: enrol again
   */
  enrolServer(key: string, request: EnrolmentRequest, from?: string): Promise<EnrolledServer>
  /**
   * Stops all servers that enrolled with a key that is no longer in the configuration. Their matches are over, and
   * their tokens are invalid. Resolves once the store has recorded that. Repeating the call changes nothing.
   * @param keyId the first 8 hex digits of the key's SHA-256
   * @throws {EnrolmentRefused} while the key is in the configuration; {Unavailable} if the store cannot be written now
   */
  revokeEnrolment(keyId: string): Promise<void>
}

interface EnrollingOptions extends AllocatorContext {
  readonly pools: Pick<Pools, 'definitions' | 'find' | 'orderOf' | 'adopted' | 'up'>
  readonly gameServers: Pick<GameServers, 'isExpected' | 'register' | 'upSince'>
  /** Called before a name's silence is judged, because servers could not report while this process was suspended. */
  readonly called: () => void
  readonly lifecycle: Pick<ServerLifecycle, 'listened' | 'listens'>
  readonly prober: Prober
  readonly drop: (server: Server, reason: StopReason) => void
}

/** Maximum number of remembered ids and names of ended servers (our choice). */
const REMEMBERED = 10_000

/** Manages the servers that Muster has not started. They enrol in a pool with one of its keys. */
export class Enrolling {
  readonly #options: EnrollingOptions
  /** Stop reasons of servers that have recently ended, by server id and by the process id of `ServerKeys.processOf`. */
  readonly #ended = new LRUCache<string, StopReason>(growingTo(REMEMBERED))
  /** Tests the addresses of enrolled servers. No players are sent to a server before its address is proved. */
  readonly knocking: ReturnType<typeof createReachabilityCheck>

  constructor(options: EnrollingOptions) {
    const { pools, lifecycle, keys, clock, prober, on } = options
    this.#options = options
    this.knocking = createReachabilityCheck({
      prober,
      clock,
      textOf: ({ id }, port) => keys.knockOf(id, port),
      probeOf: (server) => {
        const enrolment = this.#enrolmentIn(server)
        return enrolment === undefined ? 'gone' : enrolment.knock
      },
      proved: (server) => {
        lifecycle.listens(server)
        pools.up(server)
      },
      failed: (server, { kind, port }, knocks) => {
        const { name = '', key = '' } = server.enrolled ?? {}
        const who = `Server ${JSON.stringify(name)} of the key ${key}`
        const what =
          kind === 'tcp'
            ? 'the server accepted no connection'
            : 'no report of the server repeated a datagram that Muster had sent'
        const error = new Error(
          `${who}: Muster tried ${knocks} times to reach its port ${JSON.stringify(port)}, but ${what}.`,
        )
        on.problem('probe', error, server, server.requestId)
        lifecycle.listened(server, false)
      },
    })
  }

  /** True if a pool has this key. */
  isEnrolmentKey(key: string): boolean {
    return this.#find(key) !== undefined
  }

  /**
   * Enrols the process with this key as a server. A repeated call of the same process returns the same server. A
   * restarted process becomes a new server, and its previous server ends. The enrolment is durable once the server's
   * record is written.
   * @param from address of the request's sender
   * @throws {EnrolmentRefused}; {ServerGone} for a process whose server has ended
   */
  enrol(secret: string, request: EnrolmentRequest, from: string | undefined): EnrolledServer {
    const { pool, enrolment } = this.#find(secret) ?? {}
    if (pool === undefined || enrolment === undefined)
      throw new EnrolmentRefused('wrong-key', 'The enrolment key belongs to no pool.')
    try {
      return this.#enrol(pool, enrolment, request, from)
    } catch (error) {
      if (error instanceof EnrolmentRefused) {
        // The text has nothing that the process has chosen, so that a stolen key causes only a few kinds of problems.
        const who = `Pool ${JSON.stringify(pool.name)} refused a server with the key ${enrolmentIdOf(enrolment)}`
        this.#options.on.problem('server', new Error(`${who}: ${error.code}. The server's log has the details.`))
      }
      throw error
    }
  }

  #enrol(pool: Pool, enrolment: Enrolment, request: EnrolmentRequest, from: string | undefined): EnrolledServer {
    const { build, instance, address = { ports: {} } } = request
    const host = address.host ?? from
    if (host === undefined)
      throw new EnrolmentRefused(
        'address',
        'address.host: must be given, because the address of the request is unknown',
      )
    this.#assertFits(pool, enrolment, request, host, from)
    const [key, name] = [enrolmentIdOf(enrolment), request.name ?? host]
    const process = this.#options.keys.processOf(key, name, instance)
    const enrolled = { key, name, build, process }
    const same = this.#ofProcess(process)
    if (same !== undefined) return this.#register(same, request)
    if (this.#ended.has(process)) throw this.goneOf(process)
    const before = this.#assertRoom(enrolled, enrolment.max)
    // A drain by an operator survives a restart of the process by its supervisor.
    const drainAsked = before?.drainAsked === true
    const place = pool.places?.find((one) => one.name === enrolment.place)
    const at = assignmentAt(host, address.ports, place && locationAt(place, place.name))
    const server = this.#add(pool, enrolled, at, drainAsked)
    if (before !== undefined) this.#options.drop(before, 'lost')
    return this.#register(server, request)
  }

  /** Returns a registration within the limits of the server's key: its enrolled build, and the maximum of matches. */
  withinTerms(server: Server, registration: ServerRegistration): ServerRegistration {
    const { enrolled } = server
    if (enrolled === undefined) return registration
    const most = this.#enrolmentIn(server)?.matches ?? Infinity
    return { ...registration, build: enrolled.build, matches: Math.min(registration.matches, most) }
  }

  /**
   * Begins the use of an enrolled server to which no players were sent yet. If its key requires a knock, the address
   * must be proved first, even after a restart.
   */
  adopt(server: Server, assignment: Assignment) {
    server.assignment = deepFreeze(assignment)
    server.isLocated = true
    this.#options.fleet.step(server, 'enrolled')
    if (this.#enrolmentIn(server)?.knock === undefined) this.#options.lifecycle.listens(server)
    else this.knocking.begin(server, assignment)
  }

  /** Called when a server no longer exists. Its process may not enrol again. */
  ended(server: Server) {
    if (isEnrolled(server))
      for (const name of [server.id, this.#processIn(server)]) this.#ended.set(name, server.stopReason ?? 'ended')
  }

  /** Returns the error for a process whose server has ended. @param name the server's id, or its process id */
  goneOf(name: string) {
    return new ServerGone(
      this.#ended.get(name) === 'not-listening'
        ? 'Muster could not reach this server at its address, so players could not either. End its process.'
        : 'This server is no longer needed. End its process.',
    )
  }

  /**
   * Stops all servers that enrolled with a key, and ends their matches.
   * @returns ids of servers and matches. The revocation is durable once their records are written
   * @throws {EnrolmentRefused} while the key is in the configuration, because its holder could enrol again
   */
  revoke(keyId: string): readonly string[] {
    if (this.#options.pools.definitions().some(({ enrol }) => enrol.some((one) => enrolmentIdOf(one) === keyId))) {
      const message = `The key ${keyId} is still configured, so its servers could enrol again. Remove the key first.`
      throw new EnrolmentRefused('key-in-use', message)
    }
    return this.#withKey(keyId).flatMap((server) => {
      const about = [server.id, ...Array.from(server.guests, ({ id }) => id)]
      this.#options.drop(server, 'stopped')
      return about
    })
  }

  /** Called when a draining server has no matches left, or when an enrolled server is silent. */
  spent(server: Server, reason: DrainReason): void {
    // Keep an enrolled server that an operator drains. If its process ended, the supervisor would restart it as a new
    // server.
    if (isEnrolled(server) && reason === 'operator') return
    const isLost = isEnrolled(server) && reason === 'silent'
    this.#options.drop(server, reason === 'surplus' ? 'surplus' : isLost ? 'lost' : 'drained')
  }

  #find(key: string): { readonly pool: Pool; readonly enrolment: Enrolment } | undefined {
    // Keys are compared by their digests, so that the time of the comparison reveals nothing about a key.
    const digest = digestOf(key)
    for (const pool of this.#options.pools.definitions())
      for (const enrolment of pool.enrol) if (hasDigest(enrolment, digest)) return { pool, enrolment }
    return undefined
  }

  #processIn({ id, enrolled }: Server) {
    return enrolled?.process ?? id
  }

  #ofProcess(process: string): Server | undefined {
    for (const server of this.#options.fleet.all())
      if (isEnrolled(server) && this.#processIn(server) === process) return server
    return undefined
  }

  #withKey(keyId: string): readonly Server[] {
    return [...this.#options.fleet.all()].filter(
      ({ enrolled, stopReason }) => enrolled?.key === keyId && stopReason === undefined,
    )
  }

  /** True if the server has not been silent for 25 s, or may still register again after a restart of Muster. */
  #isHeard({ id, presence }: Server) {
    const { gameServers, clock, called } = this.#options
    if (presence === undefined) return gameServers.isExpected(id)
    called()
    const silentSince = Math.max(presence.seenAt, gameServers.upSince)
    return presence.lostAt === undefined && clock.now() - silentSince < LOST_AFTER_MS
  }

  #assertFits(pool: Pool, enrolment: Enrolment, request: EnrolmentRequest, host: string, from?: string) {
    if (!mayRun(pool, enrolment, request.build)) {
      const wanted = enrolment.builds ?? [pool.deploy.version]
      const message = `build: must be ${wanted.map((one) => JSON.stringify(one)).join(' or ')}`
      throw new EnrolmentRefused('wrong-build', `${message}, got ${JSON.stringify(request.build ?? null)}`)
    }
    const port = enrolment.knock?.port
    if (port !== undefined && !Object.hasOwn(request.address?.ports ?? {}, port))
      throw new EnrolmentRefused(
        'address',
        `address.ports: must have ${JSON.stringify(port)}, the port that Muster must reach`,
      )
    if (mayBeAt(enrolment, host, from)) return
    const where = enrolment.hosts === undefined ? 'where the request comes from' : '`hosts` of its key'
    throw new EnrolmentRefused('address', `address.host: must be within ${where}, got ${JSON.stringify(host)}`)
  }

  /** Checks that a server may be added. @returns the silent server that has the same name, if any */
  #assertRoom(enrolled: Enrolled, max: number): Server | undefined {
    const present = this.#withKey(enrolled.key)
    const before = present.find((one) => one.enrolled?.name === enrolled.name)
    if (before !== undefined && this.#isHeard(before)) {
      const message = `name: another process has the name ${JSON.stringify(enrolled.name)}, and reported within 25 s`
      throw new EnrolmentRefused('name-in-use', message)
    }
    // A server whose process was restarted counts once. `max` may have been lowered below the number of servers.
    if (present.length - (before === undefined ? 0 : 1) >= max)
      throw new EnrolmentRefused('full', `This key already has ${max} servers, its limit.`)
    return before
  }

  #enrolmentIn({ pool: name, enrolled }: Server): Enrolment | undefined {
    const pool = this.#options.pools.find(name ?? '')?.definition
    return pool && enrolled && enrolmentOf(pool, enrolled)
  }

  #add(pool: Pool, terms: Enrolled, assignment: Assignment, drainAsked: boolean): Server {
    // The id is always new, so that the tokens of a previous server with this name become invalid.
    const id = `e-${newId(this.#options.random)}`
    const order = this.#options.pools.orderOf(pool.name)
    if (order === undefined)
      throw new EnrolmentRefused('wrong-key', 'The pool of this key is no longer in the configuration.')
    const at = { ...assignment, server: id }
    const server = newEnrolledServer(
      { id, pool: pool.name, at: this.#options.clock.now(), enrolled: { ...terms, at } },
      order,
    )
    this.#options.fleet.add(server)
    this.#options.fleet.identify(server, id)
    const { latitude = 0, longitude = 0 } = assignment.location ?? {}
    this.#options.pools.adopted(server, this.#options.clock.now(), { latitude, longitude })
    server.drainAsked = drainAsked
    const draining = drainAsked ? [{ kind: 'draining' as const, serverId: id }] : []
    void this.#options.writer.note(serverIntent(server), { kind: 'created', serverId: id, requestId: id }, ...draining)
    this.adopt(server, at)
    return server
  }

  #register(server: Server, request: EnrolmentRequest): EnrolledServer {
    const { name: _, address: __, deployment: ___, ...registration } = request
    const { gameServers, keys } = this.#options
    const registered = gameServers.register(server, this.withinTerms(server, registration))
    return { ...registered, token: keys.tokenOf(registered.id) }
  }
}
