import { type Coordinates, InvalidInput } from '@muster/core'
import type { Clock, Random } from '@muster/core/clock'
import { newId } from '@muster/core/internal'
import { type GameServers, LOST_AFTER_MS, type ServerKeys, type SessionWanted } from '../game-servers/index.js'
import type { Pools } from '../pools/index.js'
import {
  type Assignment,
  isEnrolled,
  type ListingReport,
  newPoolServer,
  type Server,
  serverIntent,
} from '../records/index.js'
import { type Seat, SeatRefused, type Seats, UnknownServer } from '../seats/index.js'
import type { SeatParty, ServerLogWriter, SessionStart, StoredSession } from '../store/index.js'
import { attributeFault, type Browser } from './browser-definition.js'
import { isLike, isReplaced, partiesOf, promisedIn, promiseOf, withoutPlayers, withParty } from './promised-seats.js'

/** A seat and the data with which its player connects. */
export interface SeatGrant extends Omit<Seat, 'state' | 'session'> {
  /** `starting`: the server is not listed yet, so the seat has no join token. */
  readonly state: Seat['state'] | 'starting'
  /** The secret with which the player joins. Undefined while the server starts. */
  readonly joinToken: string | undefined
  readonly assignment: Assignment | undefined
}

export interface SeatsGranted {
  /** The seats, in the order of the requested players. */
  readonly seats: readonly SeatGrant[]
  /** True if at least one player got a new seat. */
  readonly isNew: boolean
}

/** A request to start a server for players and to list it. */
export interface StartRequest {
  /** The new session's id. A repetition with the id of a session that is not over starts nothing. Default: random. */
  readonly id?: string | undefined
  /** Name of the pool. Default: the first pool of which players may start servers. */
  readonly pool?: string | undefined
  /** The players who get seats. The first one owns the server. Empty if a backend starts the server for others. */
  readonly playerIds: readonly string[]
  readonly groupId?: string | undefined
  /** The server's public name. Default: the name of the pool. */
  readonly name?: string | undefined
  readonly password?: string | undefined
  readonly attributes: Readonly<Record<string, string | number | boolean>>
  /** The requested location in degrees. Default: any location of the pool. */
  readonly near?: Coordinates | undefined
  /** True if seats on a server that others have recently started are acceptable too. Default false. */
  readonly mayShare?: boolean | undefined
  /** Id of the requesting player. Undefined: a trusted backend. */
  readonly by?: string | undefined
}

/** Milliseconds from the request until the server must list itself (our choice: a slow boot, and loading a level). */
const START_MS = 300_000
/** Assumed number of seats of a server, until a server of its pool has reported one (our choice). */
const FIRST_SEATS = 8

/** Maximum number of servers that are tried for one request (our choice: as many as for a match). */
const MOST_SERVERS = 4

interface PendingStart extends SessionStart {
  readonly server: Server
  readonly wanted: SessionWanted
}

/** The server that a party wants to share with other parties. */
type SharedStart = Required<Pick<StartRequest, 'attributes'>> & {
  readonly pool: string
  readonly near: Coordinates | undefined
}

export interface ServerStartsOptions {
  readonly browser: Browser
  readonly clock: Clock
  readonly random: Random
  readonly seats: Seats
  readonly grantOf: (seat: Seat) => SeatGrant
  readonly gameServers: Pick<GameServers, 'changed'>
  readonly find: (serverId: string) => Server | undefined
  readonly pools: Pick<Pools, 'created' | 'definitions' | 'find' | 'isNear' | 'warmFor'>
  readonly writer: Pick<ServerLogWriter, 'note'>
  /** Returns the number of servers that may be created now at a source. */
  readonly room: (source: string | undefined) => number
  readonly begin: (server: Server) => void
  readonly used: (playerIds: readonly string[]) => void
  /** Called before a server is created for these players. @throws {Error} if they have caused too much cost */
  readonly assertMayStart: (playerIds: readonly string[]) => void
  readonly drop: (server: Server) => void
  readonly keys: Pick<ServerKeys, 'seal' | 'unseal'>
}

/** The servers that players start: the session that each should list, and the players who were promised seats. */
export class ServerStarts {
  readonly #options: ServerStartsOptions
  /** Pending starts by server id: players wait until the server lists the requested session. */
  readonly #starts = new Map<string, PendingStart>()
  /** The sessions that servers should list, by server id, until the sessions end. */
  readonly #wanted = new Map<string, SessionWanted>()
  /** Replacement servers that are stored but not created yet. The value is the id of the failed server. */
  readonly #intended = new Map<Server, string>()
  /** Number of seats in a server's session as last known, by pool. */
  readonly #seatsOfPool = new Map<string, number>()

  constructor(options: ServerStartsOptions) {
    this.#options = options
  }

  startingSeat({ server, until }: PendingStart, { playerIds, seatIds, groupId }: SeatParty, index: number): SeatGrant {
    return {
      id: seatIds[index] as string,
      serverId: server.id,
      playerId: playerIds[index] as string,
      team: '',
      groupId,
      state: 'starting',
      until,
      joinToken: undefined,
      assignment: undefined,
    }
  }

  /** Returns the pending start with this player or seat id, and the id's position. */
  startWith(ids: 'playerIds' | 'seatIds', id: string) {
    for (const start of this.#starts.values()) {
      const found = promiseOf(start, ids, id)
      if (found !== undefined) return { start, ...found }
    }
    return undefined
  }

  /** Returns the session that a server should list. Undefined if players have requested none. */
  wantedOf(serverId: string): SessionWanted | undefined {
    return this.#wanted.get(serverId)
  }

  /** True if players wait until the server lists their session. */
  isStarting(serverId: string) {
    return this.#starts.has(serverId)
  }

  leave(start: PendingStart, gone: readonly string[]) {
    const left = withoutPlayers(start, gone)
    const [next] = partiesOf(left).flatMap(({ playerIds }) => playerIds)
    if (next === undefined) return this.#giveBack(start)
    const { wanted: session } = start
    // The next player becomes the owner, so that the previous owner may start another server.
    const isOwnerGone = session.owner !== undefined && gone.includes(session.owner)
    this.#begin({ ...left, wanted: isOwnerGone ? { ...session, owner: next } : session })
  }

  /** Frees all seats that these players were promised, except on one server, because a player has only one seat. */
  #leaveAll(playerIds: readonly string[], except?: string) {
    for (const start of this.#starts.values())
      if (start.server.id !== except && playerIds.some((id) => promiseOf(start, 'playerIds', id) !== undefined))
        this.leave(start, playerIds)
  }

  /** Called when a server no longer exists, before its record is removed from the store. */
  ended({ id }: Server) {
    const start = this.#starts.get(id)
    if (start !== undefined) this.#retryStart(start)
  }

  /** Removes these players from a pending start that could not be stored. They have not been answered yet. */
  cancel(serverId: string, playerIds: readonly string[]) {
    const start =
      this.#starts.get(serverId) ??
      [...this.#starts.values()].find(({ server }) => this.#intended.get(server) === serverId)
    if (start !== undefined) this.leave(start, playerIds)
  }

  /** Applies the listing of a server's last report. */
  listed(server: Server, listing: ListingReport | undefined) {
    const { id } = server
    const session = this.#wanted.get(id)
    if (session === undefined) return
    const isWanted = listing?.session === session.session
    const start = this.#starts.get(id)
    if (isWanted && start !== undefined && this.#options.find(id)?.assignment !== undefined) this.#grantSeats(start)
    // The server no longer lists the session: the session has ended, or the server's process has restarted.
    else if (start === undefined && !isWanted) {
      this.#wanted.delete(id)
      this.#keep(server)
    }
  }

  /**
   * Starts and lists a server for players: a warm server if one fits, otherwise a new one. The request survives a
   * restart once all entries of the server are written.
   * @throws {InvalidInput} with the field; {SeatRefused}
   */
  start(request: StartRequest): SeatsGranted & { readonly serverId: string } {
    const { playerIds, password, attributes, near } = request
    const { pool, custom } = this.#customOf(request)
    const { name = pool } = request
    const [owner] = playerIds
    const before = owner === undefined ? undefined : this.startWith('playerIds', owner)
    // A player whose promised seat was requested by another party may start their own server instead.
    const isAgain = request.mayShare === true || before?.start.playerIds.includes(owner ?? '') === true
    if (before !== undefined && isAgain) {
      // A repeated request gets the seats that were promised before.
      const again = this.#startingSeats(before.start, before.party)
      const own = playerIds.flatMap((playerId) => again.find((seat) => seat.playerId === playerId) ?? [])
      return { seats: own, isNew: false, serverId: before.start.server.id }
    }
    const [repeated] = [...this.#wanted].find(([, { session }]) => session === request.id) ?? []
    if (repeated !== undefined) {
      const seats = playerIds.flatMap((playerId) => this.#options.seats.givenTo(playerId) ?? [])
      const own = seats.filter(({ serverId }) => serverId === repeated).map(this.#options.grantOf)
      return { seats: own, isNew: false, serverId: repeated }
    }
    for (const playerId of playerIds) {
      const seat = this.#options.seats.givenTo(playerId)
      if (seat?.state === 'taken' || (seat?.state === 'away' && request.by !== undefined && request.by !== playerId))
        throw new SeatRefused('seat-held-elsewhere', 'The player is on another server. Give that seat back first.', {
          playerId,
          seatId: seat.id,
        })
    }
    const party = { playerIds, seatIds: playerIds.map(() => newId(this.#options.random)), groupId: request.groupId }
    const shared = request.mayShare === true ? this.#share(party, { pool, near, attributes }, request) : undefined
    if (shared !== undefined) return shared
    const { all, own } = this.#startedIn(pool, owner)
    if (owner !== undefined && own >= custom.perPlayer)
      throw new SeatRefused('too-many-servers', 'The player has started as many servers as allowed. End one first.')
    this.#options.assertMayStart(playerIds)
    const server = all >= custom.max ? undefined : this.#serverFor(pool, near, playerIds)
    if (server === undefined)
      throw new SeatRefused('no-capacity', 'No more servers may be started now. Try again later.', {
        retryAfterMs: 10_000,
      })
    this.#leaveAll(playerIds)
    const session = { session: request.id ?? newId(this.#options.random), name, password, owner, attributes }
    const start = this.#begin({ ...party, server, wanted: session, near, until: this.#options.clock.now() + START_MS })
    return { seats: this.#startingSeats(start, party), isNew: true, serverId: server.id }
  }

  /** Takes over the session that an earlier process has stored for a server. */
  adopt(server: Server, { start, owner, password: sealed, ...rest }: StoredSession) {
    const password = sealed === undefined ? undefined : this.#options.keys.unseal(sealed)
    // The master secret has changed, so the password is unreadable, and the server's token is invalid as well.
    if (password === undefined && sealed !== undefined) return
    const session = { ...rest, owner, password }
    this.#wanted.set(server.id, session)
    // If the clock was set back meanwhile, the time limit must not become longer.
    const until = Math.min(start?.until ?? 0, this.#options.clock.now() + START_MS)
    if (start !== undefined) this.#starts.set(server.id, { ...start, until, server, wanted: session })
  }

  /** Gives each pending start time until its server, like any registered server, must have reported. */
  resumed(now: number) {
    for (const [serverId, start] of this.#starts)
      this.#starts.set(serverId, { ...start, until: Math.max(start.until, now + LOST_AFTER_MS) })
  }

  advance(now: number) {
    for (const start of this.#starts.values()) {
      const { server, until } = start
      const isGone = this.#options.find(server.id) !== server || server.stopReason !== undefined
      if (now >= until || !isReplaced(server)) this.#giveUp(start)
      else if (isGone) this.#replaceServer(start)
      else if (
        server.assignment !== undefined &&
        this.#options.seats.listing(server.id)?.session === start.wanted.session
      )
        this.#grantSeats(start)
    }
  }

  /** Returns a new server, without requesting it. Undefined if the pool has no such location. */
  #newServer(name: string, near: Coordinates | undefined): Server | undefined {
    const { pools, clock, random } = this.#options
    const pool = pools.find(name)
    const order = pool?.orderAt(near)
    if (pool === undefined || order === undefined) return undefined
    const { source } = pool.definition
    return newPoolServer({ id: newId(random), pool: name, at: clock.now(), source }, order)
  }

  /** Returns a warm or new server for the players, and charges them. Undefined if no server may be created. */
  #serverFor(name: string, near: Coordinates | undefined, playerIds: readonly string[]): Server | undefined {
    const { pools, room, begin, used } = this.#options
    const pool = pools.find(name)
    const warm = pool && pools.warmFor(pool, { isEmpty: true, middle: near, placements: undefined })
    if (warm !== undefined) {
      if (warm.chargedPlayers === undefined) used((warm.chargedPlayers = playerIds))
      return warm
    }
    const server = pool !== undefined && room(pool.definition.source) > 0 ? this.#newServer(name, near) : undefined
    if (server === undefined) return undefined
    server.chargedPlayers = playerIds
    server.near = near
    pools.created(server, near)
    begin(server)
    return server
  }

  #startingSeats(start: PendingStart, party: SeatParty) {
    return party.playerIds.map((_, index) => this.startingSeat(start, party, index))
  }

  /** Stores the session that a server should list and its waiting players, so that they survive a restart. */
  #keep(server: Server) {
    const session = this.#wanted.get(server.id)
    const { server: _, wanted: __, ...start } = this.#starts.get(server.id) ?? {}
    const stored = session && {
      ...session,
      password: session.password === undefined ? undefined : this.#options.keys.seal(session.password),
      start: 'until' in start ? start : undefined,
    }
    void this.#options.writer.note({ kind: 'wanted', serverId: server.id, session: stored })
  }

  #forget({ server }: PendingStart) {
    this.#starts.delete(server.id)
    this.#wanted.delete(server.id)
    if (this.#intended.delete(server)) void this.#options.writer.note({ kind: 'gone', serverId: server.id })
    else this.#keep(server)
  }

  #giveUp(start: PendingStart) {
    const isBegun = !this.#intended.has(start.server)
    this.#forget(start)
    if (isBegun) this.#options.drop(start.server)
  }

  /** Replaces a failed server by another one for the same session. Does nothing while no server may be created. */
  #replaceServer(start: PendingStart) {
    const { server, failures = 0, near, wanted: session } = start
    if (failures + 1 >= MOST_SERVERS) return this.#giveUp(start)
    const next = this.#serverFor(server.pool ?? '', near, [])
    if (next === undefined) return
    // Store the new pending start before the old one is removed, so that a crash between the writes loses neither.
    this.#begin({
      ...start,
      server: next,
      failures: failures + 1,
      wanted: session,
      until: this.#options.clock.now() + START_MS,
    })
    this.#forget(start)
  }

  /** Called when the failed server of a pending start is gone. A stored replacement keeps the request. */
  #retryStart(start: PendingStart) {
    const { server, failures = 0, near } = start
    if (!isReplaced(server) || failures + 1 >= MOST_SERVERS || this.#options.clock.now() >= start.until) return
    const next = this.#newServer(server.pool ?? '', near)
    // Muster cannot create servers of a pool whose servers enrol themselves.
    if (next === undefined || isEnrolled(next)) return
    // After a crash, the next process creates the server from this entry and the stored session.
    void this.#options.writer.note(serverIntent(next))
    this.#intended.set(next, server.id)
    this.#begin({ ...start, server: next })
    this.#forget(start)
  }

  /** Called when no player waits for the server any more. It keeps running if its session is not listed yet. */
  #giveBack(start: PendingStart) {
    const { id, presence } = start.server
    if (presence === undefined || this.#options.seats.isListed(id)) return this.#giveUp(start)
    this.#forget(start)
    this.#options.gameServers.changed(start.server)
  }

  #begin(start: PendingStart): PendingStart {
    const { server, wanted: session } = start
    this.#starts.set(server.id, start)
    this.#wanted.set(server.id, session)
    this.#keep(server)
    this.#options.gameServers.changed(server)
    return start
  }

  /**
   * Returns the number of seats to expect on a server of the pool. It is the median of the listed sessions, so that one
   * server that lists few or many seats does not decide how players share servers.
   */
  #seatsIn(pool: string): number {
    const listed: number[] = []
    for (const [serverId, { session }] of this.#wanted) {
      const found = this.#options.seats.listing(serverId)
      if (found?.session === session && this.#options.find(serverId)?.pool === pool) listed.push(found.listing.seats)
    }
    const median = listed.toSorted((one, other) => one - other)[Math.floor(listed.length / 2)]
    if (median !== undefined) this.#seatsOfPool.set(pool, median)
    return this.#seatsOfPool.get(pool) ?? FIRST_SEATS
  }

  /** Returns a pending start that the party can share. Undefined if there is none. */
  #startFor(size: number, { pool, near, attributes }: SharedStart): PendingStart | undefined {
    const seats = this.#seatsIn(pool)
    for (const start of this.#starts.values()) {
      const { server, wanted: session } = start
      const isSame = server.pool === pool && isLike(session, attributes) && this.#options.pools.isNear(server, near)
      if (isSame && promisedIn(start) + size <= seats) return start
    }
    return undefined
  }

  /** Moves a party to another server because its server is full. A party is moved only once. */
  #move({ server, wanted: session, near }: PendingStart, party: SeatParty) {
    const pool = server.pool ?? ''
    const size = party.playerIds.length
    if (party.isMoved === true || size > this.#seatsIn(pool)) return
    const moved = { ...party, isMoved: true }
    const other = this.#startFor(size, { pool, near, attributes: session.attributes })
    if (other !== undefined) return void this.#begin(withParty(other, moved))
    const [owner] = party.playerIds
    const custom = this.#options.pools.find(pool)?.definition.custom
    const { all } = this.#startedIn(pool, owner)
    const next = custom === undefined || all >= custom.max ? undefined : this.#serverFor(pool, near, party.playerIds)
    if (next === undefined) return
    const until = this.#options.clock.now() + START_MS
    this.#begin({
      ...moved,
      server: next,
      wanted: { ...session, session: newId(this.#options.random), owner },
      near,
      until,
    })
  }

  /** Gives waiting players their promised seats, because the server now lists the session. */
  #grantSeats(start: PendingStart) {
    const { server, wanted: session } = start
    this.#starts.delete(server.id)
    this.#keep(server)
    for (const party of partiesOf(start)) {
      if (party.playerIds.length === 0) continue
      try {
        // The first player counts as the requester. If another member has an away seat on another server, the party is
        // refused.
        const [by] = party.playerIds
        this.#options.seats.hold({ serverId: server.id, password: session.password, by, ...party })
      } catch (error) {
        // The players have got other seats meanwhile, or the server is full or locked.
        if (!(error instanceof SeatRefused)) throw error
        if (error.code === 'server-full') this.#move(start, party)
      }
    }
  }

  /** Gives a party seats on a server that another party has recently started. Undefined if no such server has room. */
  #share(party: SeatParty, like: SharedStart, { password, by }: StartRequest) {
    if (password !== undefined || party.playerIds.length === 0) return undefined
    const start = this.#startFor(party.playerIds.length, like)
    if (start !== undefined) {
      const { id } = start.server
      this.#leaveAll(party.playerIds, id)
      this.#begin(withParty(withoutPlayers(start, party.playerIds), party))
      return { seats: this.#startingSeats(start, party), isNew: true, serverId: id }
    }
    for (const [serverId, session] of this.#wanted) {
      const server = this.#options.find(serverId)
      if (server === undefined || this.#starts.has(serverId) || server.pool !== like.pool) continue
      if (!isLike(session, like.attributes) || !this.#options.pools.isNear(server, like.near)) continue
      // The server has set its own password. A hold without it would count as a guess, and block those who know it.
      if (this.#options.seats.listing(serverId)?.listing.password !== undefined) continue
      try {
        const { seats: held, isNew } = this.#options.seats.hold({ serverId, by, ...party })
        this.#leaveAll(party.playerIds)
        return { seats: held.map(this.#options.grantOf), isNew, serverId }
      } catch (error) {
        // Try the next server: this one is full, locked or lost.
        if (!(error instanceof SeatRefused || error instanceof UnknownServer)) throw error
      }
    }
    return undefined
  }

  /** Returns the pool of a request. @throws {InvalidInput} with the field */
  #customOf({ pool: name, attributes }: StartRequest) {
    const refuse = (field: string, message: string) => new InvalidInput(`${field}: ${message}`, { field })
    const { pools } = this.#options
    const pool =
      name === undefined ? pools.definitions().find(({ custom }) => custom !== undefined) : pools.find(name)?.definition
    if (pool?.custom === undefined) throw refuse('pool', 'must be a pool in which players may start servers')
    for (const attribute of Object.keys(attributes))
      if (!(pool.custom.attributes ?? Object.keys(this.#options.browser.attributes)).includes(attribute))
        throw refuse(`attributes.${attribute}`, 'must not be set by players')
    const fault = attributeFault(this.#options.browser, attributes)
    if (fault !== undefined) throw refuse(`attributes.${fault.name}`, fault.message)
    return { pool: pool.name, custom: pool.custom }
  }

  /** Counts the servers of a pool that are listed or that players have requested: all, and those of this owner. */
  #startedIn(pool: string, owner: string | undefined) {
    const serverIds = new Set([...this.#wanted.keys(), ...this.#options.seats.serverIds()])
    // A server that replaces a failed one counts before it is created.
    const serverOf = (id: string) => this.#starts.get(id)?.server ?? this.#options.find(id)
    const all = [...serverIds].filter((serverId) => serverOf(serverId)?.pool === pool)
    // The owner in a server's own report does not count.
    const own = owner === undefined ? [] : all.filter((serverId) => this.#wanted.get(serverId)?.owner === owner)
    return { all: all.length, own: own.length }
  }
}
