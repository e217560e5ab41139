import { type Coordinates, InvalidInput } from '@muster/core'
import type { Clock, Random } from '@muster/core/clock'
import { newId } from '@muster/core/internal'
import type { GameServers, ListingReport, ServerKeys, SessionWanted } from '../game-servers/index.js'
import type { Pool } from '../pools/index.js'
import type { Assignment, Server, StopReason } from '../records/index.js'
import { type Seat, SeatRefused, type Seats, UnknownServer } from '../seats/index.js'
import type { SeatParty, SessionStart, StoredSession } from '../store/index.js'
import { attributeFault, type Browser } from './browser-definition.js'
import type { StartServers } from './start-servers.js'
import { partiesOf, promisedIn, promiseOf, withoutPlayers, withParty } from './promised-seats.js'

/** A seat with what its player needs to connect. */
export interface SeatGrant extends Omit<Seat, 'state' | 'session'> {
  /** `starting`: its server is being started, and there is no token yet. */
  readonly state: Seat['state'] | 'starting'
  /** For its player alone; undefined while the server starts. */
  readonly joinToken: string | undefined
  readonly assignment: Assignment | undefined
}

export interface SeatsGranted {
  /** In the order of the players. */
  readonly seats: readonly SeatGrant[]
  /** Whether a player has got a seat that they did not have. */
  readonly isNew: boolean
}

/** A server that players have started. */
export interface StartRequest {
  /** Default: the first one of which players may start servers. */
  readonly pool?: string | undefined
  /** The players who get seats; the first one owns the server. None: a backend starts it for others. */
  readonly playerIds: readonly string[]
  readonly groupId?: string | undefined
  /** In the list. Default: that of the pool. */
  readonly name?: string | undefined
  readonly password?: string | undefined
  readonly attributes: Readonly<Record<string, string | number | boolean>>
  /** Where it is wanted, in degrees. Default: where the pool has servers. */
  readonly near?: Coordinates | undefined
  /** Whether seats on another server that starts, or has just started, do as well. Default: no. */
  readonly mayShare?: boolean | undefined
  /** See `SeatRequest`. */
  readonly by?: string | undefined
}

/** Milliseconds in which a server that was started has to list itself (our choice: a slow boot, and its level). */
const START_MS = 300_000
/** Seats of a server that starts, until one of its pool has said how many it has (our choice). */
const FIRST_SEATS = 8

/** Servers that are asked for in turn for one start, if they fail (our choice: as many as attempts of a match). */
const MOST_SERVERS = 4
/** Why a server of a start ends without the players' or an operator's wish: they get another one. */
const FAILURES: ReadonlySet<StopReason> = new Set<StopReason>([
  'no-capacity',
  'unavailable',
  'lost',
  'failed',
  'too-slow',
  'not-listening',
  'ended',
  'crashed',
  'restarted',
])

interface Start extends SessionStart {
  readonly server: Server
  readonly wanted: SessionWanted
}

/** What a server is to be like whose seats a party shares with others. */
type SharedStart = Required<Pick<StartRequest, 'attributes'>> & {
  readonly pool: string
  readonly near: Coordinates | undefined
}

/** Whether players who want these attributes may be promised seats of the session. */
const isLike = ({ password, attributes: has }: SessionWanted, attributes: SharedStart['attributes']) =>
  password === undefined &&
  Object.keys(has).length === Object.keys(attributes).length &&
  Object.entries(attributes).every(([name, value]) => Object.hasOwn(has, name) && has[name] === value)

export interface ServerStartsOptions {
  readonly browser: Browser
  readonly clock: Clock
  readonly random: Random
  readonly seats: Seats
  readonly grantOf: (seat: Seat) => SeatGrant
  readonly gameServers: () => Pick<GameServers, 'changed' | 'find'>
  readonly find: (serverId: string) => Server | undefined
  readonly pool: (name: string) => Pool | undefined
  /** The first pool of which players may start servers. */
  readonly customPool: () => Pool | undefined
  readonly servers: StartServers
  /** Called before a server is created for these players. @throws {Error} if they have cost too much */
  readonly assertMayStart: (playerIds: readonly string[]) => void
  /** Whether the server is at the place of its pool that is nearest to these coordinates. */
  readonly isNear: (server: Server, near: Coordinates | undefined) => boolean
  readonly drop: (server: Server) => void
  readonly keys: Pick<ServerKeys, 'seal' | 'unseal'>
}

/** Creates the servers that players start: what these are to list, and who has been promised seats on them. */
export function createServerStarts(options: ServerStartsOptions) {
  const { browser, clock, random, seats, grantOf, find, gameServers, keys, servers } = options
  /** By server: those that do not list themselves yet. */
  const starts = new Map<string, Start>()
  /** Sessions that servers are to list, until they end. */
  const wanted = new Map<string, SessionWanted>()
  /** Servers that only the store knows of, until one may be created; by each, the id of the one that is gone. */
  const intended = new Map<Server, string>()
  /** Seats of the sessions that servers of a pool were told to list, by the latest. */
  const seatsOfPool = new Map<string, number>()
  const startingSeat = (
    { server, until }: Start,
    { playerIds, seatIds, groupId }: SeatParty,
    index: number,
  ): SeatGrant => ({
    id: seatIds[index] as string,
    serverId: server.id,
    playerId: playerIds[index] as string,
    team: '',
    groupId,
    state: 'starting',
    until,
    joinToken: undefined,
    assignment: undefined,
  })
  const startingSeats = (start: Start, party: SeatParty) =>
    party.playerIds.map((_, index) => startingSeat(start, party, index))
  /** The start that has the id among its players or its seats, and where. */
  const startWith = (ids: 'playerIds' | 'seatIds', id: string) => {
    for (const start of starts.values()) {
      const found = promiseOf(start, ids, id)
      if (found !== undefined) return { start, ...found }
    }
    return undefined
  }

  /** The next process is to know what the server is to list, and for whom. */
  const keep = (server: Server) => {
    const session = wanted.get(server.id)
    if (session === undefined) return servers.keep(server, undefined)
    const { server: _, wanted: __, ...start } = starts.get(server.id) ?? {}
    const password = session.password === undefined ? undefined : keys.seal(session.password)
    servers.keep(server, { ...session, password, start: 'until' in start ? start : undefined })
  }
  const forget = ({ server }: Start) => {
    starts.delete(server.id)
    wanted.delete(server.id)
    if (intended.delete(server)) servers.settle(server)
    else keep(server)
  }
  const giveUp = (start: Start) => {
    const isBegun = !intended.has(start.server)
    forget(start)
    if (isBegun) options.drop(start.server)
  }
  /** Its server has failed: the same is wanted of another one, once one may be created. */
  const replaceServer = (start: Start) => {
    const { server, failures = 0, near, wanted: session } = start
    if (failures + 1 >= MOST_SERVERS) return giveUp(start)
    const next = servers.serverFor(server.pool ?? '', near, [])
    if (next === undefined) return
    // The store has the start of the next server before that of this one ends.
    begin({ ...start, server: next, failures: failures + 1, wanted: session, until: clock.now() + START_MS })
    forget(start)
  }
  const hasFailed = ({ unwanted }: Server) => unwanted === undefined || FAILURES.has(unwanted)
  /** Its server is gone, and with it the record that keeps the start: another one keeps it until it has a server. */
  const outlive = (start: Start) => {
    const { server, failures = 0, near } = start
    if (!hasFailed(server) || failures + 1 >= MOST_SERVERS || clock.now() >= start.until) return
    const next = servers.intend(server.pool ?? '', near)
    if (next === undefined) return
    intended.set(next, server.id)
    begin({ ...start, server: next })
    forget(start)
  }
  /** The players want the server no longer. One that runs, and has not begun their session, is stock again. */
  const giveBack = (start: Start) => {
    const { id } = start.server
    if (gameServers().find(id) === undefined || seats.isListed(id)) return giveUp(start)
    forget(start)
    gameServers().changed(start.server)
  }

  /** Players have no seat on the server that starts. It is wanted as long as others have. */
  const leaveStart = (start: Start, gone: readonly string[]) => {
    const left = withoutPlayers(start, gone)
    const [next] = partiesOf(left).flatMap(({ playerIds }) => playerIds)
    if (next === undefined) return giveBack(start)
    const { wanted: session } = start
    // A player who owns nothing of it any more may start another one.
    const isOwnerGone = session.owner !== undefined && gone.includes(session.owner)
    begin({ ...left, wanted: isOwnerGone ? { ...session, owner: next } : session })
  }

  const begin = (start: Start): Start => {
    const { server, wanted: session } = start
    starts.set(server.id, start)
    wanted.set(server.id, session)
    keep(server)
    gameServers().changed(server)
    return start
  }

  const seatsIn = (server: Server) => seatsOfPool.get(server.pool ?? '') ?? FIRST_SEATS

  /** A server that starts and has seats for another party, and lists what they want. */
  const startFor = (size: number, { pool, near, attributes }: SharedStart): Start | undefined => {
    for (const start of starts.values()) {
      const { server, wanted: session } = start
      const isSame = server.pool === pool && isLike(session, attributes) && options.isNear(server, near)
      if (isSame && promisedIn(start) + size <= seatsIn(server)) return start
    }
    return undefined
  }

  /** A party for which its server turned out to have no room goes to another one, once. */
  const move = ({ server, wanted: session, near }: Start, party: SeatParty) => {
    const pool = server.pool ?? ''
    const size = party.playerIds.length
    if (party.isMoved === true || size > seatsIn(server)) return
    const moved = { ...party, isMoved: true }
    const other = startFor(size, { pool, near, attributes: session.attributes })
    if (other !== undefined) return void begin(withParty(other, moved))
    const [owner] = party.playerIds
    const custom = options.pool(pool)?.custom
    const { all } = startedIn(pool, owner)
    const next = custom === undefined || all >= custom.max ? undefined : servers.serverFor(pool, near, party.playerIds)
    if (next === undefined) return
    const until = clock.now() + START_MS
    begin({ ...moved, server: next, wanted: { ...session, session: newId(random), owner }, near, until })
  }

  /** The server lists what was wanted: the players who were promised seats get them. */
  const begun = (start: Start) => {
    const { server, wanted: session } = start
    starts.delete(server.id)
    keep(server)
    for (const party of partiesOf(start)) {
      if (party.playerIds.length === 0) continue
      try {
        // Where another member may return to since, that counts.
        const [by] = party.playerIds
        seats.hold({ serverId: server.id, password: session.password, by, ...party })
      } catch (error) {
        // They have seats elsewhere by now, or the server says that it is locked.
        if (!(error instanceof SeatRefused)) throw error
        if (error.code === 'server-full') move(start, party)
      }
    }
  }

  /** Seats on a server that starts, or that lists itself already: the caller's copy of the list may be older. */
  const share = (party: SeatParty, like: SharedStart, { password, by }: StartRequest) => {
    if (password !== undefined || party.playerIds.length === 0) return undefined
    const start = startFor(party.playerIds.length, like)
    if (start !== undefined) {
      const { id } = begin(withParty(start, party)).server
      return { seats: startingSeats(start, party), isNew: true, serverId: id }
    }
    for (const [serverId, session] of wanted) {
      const server = find(serverId)
      if (server === undefined || starts.has(serverId) || server.pool !== like.pool) continue
      if (!isLike(session, like.attributes) || !options.isNear(server, like.near)) continue
      try {
        const { seats: held, isNew } = seats.hold({ serverId, by, ...party })
        return { seats: held.map(grantOf), isNew, serverId }
      } catch (error) {
        // It is full, locked or lost.
        if (!(error instanceof SeatRefused || error instanceof UnknownServer)) throw error
      }
    }
    return undefined
  }

  /** @throws {InvalidInput} naming the field */
  const customOf = ({ pool: name, attributes }: StartRequest) => {
    const refuse = (field: string, message: string) => new InvalidInput(`${field}: ${message}`, { field })
    const pool = name === undefined ? options.customPool() : options.pool(name)
    if (pool?.custom === undefined) throw refuse('pool', 'players start no servers of it, or there is no such pool')
    for (const attribute of Object.keys(attributes))
      if (!(pool.custom.attributes ?? Object.keys(browser.attributes)).includes(attribute))
        throw refuse(`attributes.${attribute}`, 'is none that players choose')
    const fault = attributeFault(browser, attributes)
    if (fault !== undefined) throw refuse(`attributes.${fault.name}`, fault.message)
    return { pool: pool.name, custom: pool.custom }
  }

  /** Who had the session started that it lists. What a server says of its owner counts against nobody. */
  const ownerOf = (serverId: string) => wanted.get(serverId)?.owner
  /** Servers of a pool that players have started, and those of one player. */
  const startedIn = (pool: string, owner: string | undefined) => {
    const serverIds = new Set([...wanted.keys(), ...seats.serverIds()])
    const all = [...serverIds].filter((serverId) => find(serverId)?.pool === pool)
    const own = owner === undefined ? [] : all.filter((serverId) => ownerOf(serverId) === owner)
    return { all: all.length, own: own.length }
  }

  return {
    startingSeat,
    startWith,
    /** The session that a server is to list. */
    wantedOf: (serverId: string): SessionWanted | undefined => wanted.get(serverId),
    /** Whether players wait for the server. */
    isStarting: (serverId: string) => starts.has(serverId),
    /** These players leave the start. */
    leave: leaveStart,
    /** Nothing is left of the server. Called before its record ends. */
    ended: ({ id }: Server) => {
      const start = starts.get(id)
      if (start !== undefined) outlive(start)
    },
    /** What was begun for these players on the server could not be stored, and was promised to nobody. */
    cancel: (serverId: string, playerIds: readonly string[]) => {
      const start = starts.get(serverId) ?? [...starts.values()].find(({ server }) => intended.get(server) === serverId)
      if (start !== undefined) leaveStart(start, playerIds)
    },

    /** What a server lists now. */
    listed: (server: Server, listing: ListingReport | undefined) => {
      const { id } = server
      const session = wanted.get(id)
      if (session === undefined) return
      const isWanted = listing?.session === session.session
      if (isWanted) seatsOfPool.set(server.pool ?? '', listing.seats)
      const start = starts.get(id)
      if (isWanted && start !== undefined && find(id)?.assignment !== undefined) begun(start)
      // A server that lists something else has ended the session, or its process has.
      else if (start === undefined && !isWanted) {
        wanted.delete(id)
        keep(server)
      }
    },

    /**
     * Has a server list itself: a warm one, or else one that is created. It is kept once all is written of the server.
     * @throws {InvalidInput} naming the field; {SeatRefused}
     */
    start: (request: StartRequest): SeatsGranted & { readonly serverId: string } => {
      const { playerIds, password, attributes, near } = request
      const { pool, custom } = customOf(request)
      const { name = pool } = request
      const [owner] = playerIds
      const before = owner === undefined ? undefined : startWith('playerIds', owner)
      // Who shares the server of others may have one of their own in its place.
      const isAgain = request.mayShare === true || before?.start.playerIds.includes(owner ?? '') === true
      if (before !== undefined && isAgain) {
        // The same again, for those of the players for whom it was started.
        const again = startingSeats(before.start, before.party)
        const own = playerIds.flatMap((playerId) => again.find((seat) => seat.playerId === playerId) ?? [])
        return { seats: own, isNew: false, serverId: before.start.server.id }
      }
      for (const playerId of playerIds) {
        const seat = seats.givenTo(playerId)
        if (seat?.state === 'taken' || (seat?.state === 'away' && request.by !== undefined && request.by !== playerId))
          throw new SeatRefused('seat-held-elsewhere', 'The player is on another server. Give that seat back first.', {
            playerId,
            seatId: seat.id,
          })
      }
      const party = { playerIds, seatIds: playerIds.map(() => newId(random)), groupId: request.groupId }
      const shared = request.mayShare === true ? share(party, { pool, near, attributes }, request) : undefined
      if (shared !== undefined) return shared
      const { all, own } = startedIn(pool, owner)
      if (owner !== undefined && own >= custom.perPlayer)
        throw new SeatRefused('too-many-servers', 'The player has started as many servers as allowed. End one first.')
      options.assertMayStart(playerIds)
      const server = all >= custom.max ? undefined : servers.serverFor(pool, near, playerIds)
      if (server === undefined)
        throw new SeatRefused('no-capacity', 'No more servers may be started now. Try again later.', {
          retryAfterMs: 10_000,
        })
      if (before !== undefined) leaveStart(before.start, playerIds)
      const session = { session: newId(random), name, password, owner, attributes }
      const start = begin({ ...party, server, wanted: session, near, until: clock.now() + START_MS })
      return { seats: startingSeats(start, party), isNew: true, serverId: server.id }
    },

    /** Takes over a session that an earlier process has stored. */
    adopt: (server: Server, { start, owner, password: sealed, ...rest }: StoredSession) => {
      const password = sealed === undefined ? undefined : keys.unseal(sealed)
      // It was sealed by another master secret, which has made the token of the server too.
      if (password === undefined && sealed !== undefined) return
      const session = { ...rest, owner, password }
      wanted.set(server.id, session)
      // A clock that was set back must not prolong it.
      const until = Math.min(start?.until ?? 0, clock.now() + START_MS)
      if (start !== undefined) starts.set(server.id, { ...start, until, server, wanted: session })
    },

    advance: (now: number) => {
      for (const start of starts.values()) {
        const { server, until } = start
        const isGone = find(server.id) !== server || server.unwanted !== undefined
        if (now >= until || !hasFailed(server)) giveUp(start)
        else if (isGone) replaceServer(start)
        else if (server.assignment !== undefined && seats.listing(server.id)?.session === start.wanted.session)
          begun(start)
      }
    },
  }
}
