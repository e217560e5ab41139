import { type Coordinates, InvalidInput } from '@muster/core'
import type { Clock, Random } from '@muster/core/clock'
import { newId } from '@muster/core/internal'
import { Unavailable } from '../errors.js'
import type {
  GameServerListener,
  GameServers,
  SeatCounts,
  ServerKeys,
  ServerReport,
  SessionWanted,
} from '../game-servers/index.js'
import type { Pool, ServerUse } from '../pools/index.js'
import type { Allocation, Assignment } from '../records/index.js'
import { createSeats, type Seat, SeatRefused, type SeatRequest } from '../seats/index.js'
import type { SessionStart, StoredSession } from '../store/index.js'
import { attributeFault, type Browser } from './browser-definition.js'
import { createListedServers, type ListChanges, type ListedServer, type ListKnown } from './listed-servers.js'

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
}

export type ServerBrowser = ReturnType<typeof createServerBrowser>

export interface ServerBrowserOptions {
  readonly browser: Browser
  readonly clock: Pick<Clock, 'now'>
  readonly random: Random
  readonly gameServers: () => Pick<GameServers, 'changed' | 'drain' | 'find' | 'isExpected' | 'isOpen'>
  readonly find: (serverId: string) => Allocation | undefined
  readonly pool: (name: string) => Pool | undefined
  /** The first pool of which players may start servers. */
  readonly customPool: () => Pool | undefined
  /** A server for players: a warm one, or one that is created now; undefined: none may be. */
  readonly serverFor: (pool: string, near: Coordinates | undefined) => Allocation | undefined
  readonly drop: (server: Allocation) => void
  /** Stores the session that a server is to list; undefined: none any more. */
  readonly keep: (server: Allocation, session: StoredSession | undefined) => void
  readonly keys: Pick<ServerKeys, 'seal' | 'unseal'>
  readonly joinToken: (seat: Seat) => string
  /** A player let holds expire too often. */
  readonly unused: (playerId: string) => void
}

/** Milliseconds in which a server that was started has to list itself (our choice: a slow boot, and its level). */
const START_MS = 300_000

interface Start extends SessionStart {
  readonly server: Allocation
  readonly wanted: SessionWanted
}

/** Creates what players see and have of listed servers. */
export function createServerBrowser(options: ServerBrowserOptions) {
  const { browser, clock, random, find, gameServers, keys } = options
  /** By server: those that do not list themselves yet. */
  const starts = new Map<string, Start>()
  /** Sessions that servers are to list, until they end. */
  const wanted = new Map<string, SessionWanted>()
  /** Epoch milliseconds since when servers of players have been empty. */
  const emptySince = new Map<string, number>()

  const seats = createSeats({
    clock,
    random,
    holdMs: browser.holdSeconds * 1000,
    maxHoldMs: browser.maxHoldSeconds * 1000,
    server: (serverId) => {
      const server = find(serverId)
      return {
        build: gameServers().find(serverId)?.registration.build,
        isOpen: server?.assignment !== undefined && gameServers().isOpen(server),
      }
    },
    changed: (serverId) => {
      list.touch(serverId)
      const server = find(serverId)
      if (server !== undefined) gameServers().changed(server)
    },
    unused: options.unused,
  })

  const list = createListedServers((serverId): ListedServer | undefined => {
    const session = seats.read(serverId)
    const server = find(serverId)
    if (session === undefined || server?.assignment === undefined) return undefined
    const { listing, counts, teams } = session
    const registration = gameServers().find(serverId)?.registration
    const { location } = server.assignment
    const isPlaced = location?.latitude !== undefined && location.longitude !== undefined
    return {
      id: serverId,
      name: listing.name,
      pool: server.pool ?? server.queue,
      build: registration?.build,
      place: isPlaced
        ? {
            city: location.city,
            country: location.country,
            latitude: location.latitude as number,
            longitude: location.longitude as number,
          }
        : undefined,
      attributes: { ...registration?.attributes, ...listing.attributes },
      isOpen: !listing.locked && gameServers().isOpen(server),
      hasPassword: listing.password !== undefined,
      seats: counts,
      teams,
    }
  }, random)

  const grantOf = (seat: Seat): SeatGrant => {
    const { session: _, ...rest } = seat
    return { ...rest, joinToken: options.joinToken(seat), assignment: find(seat.serverId)?.assignment }
  }
  const startingSeat = ({ server, playerIds, seatIds, groupId, until }: Start, index: number): SeatGrant => ({
    id: seatIds[index] as string,
    serverId: server.matchId,
    playerId: playerIds[index] as string,
    team: '',
    groupId,
    state: 'starting',
    until,
    joinToken: undefined,
    assignment: undefined,
  })
  /** The start that has the id among its players or its seats, and at which index. */
  const startWith = (ids: 'playerIds' | 'seatIds', id: string) => {
    for (const start of starts.values()) {
      const index = start[ids].indexOf(id)
      if (index !== -1) return { start, index }
    }
    return undefined
  }

  /** The next process is to know what the server is to list, and for whom. */
  const keep = (server: Allocation) => {
    const session = wanted.get(server.matchId)
    if (session === undefined) return options.keep(server, undefined)
    const { server: _, wanted: __, ...start } = starts.get(server.matchId) ?? {}
    const password = session.password === undefined ? undefined : keys.seal(session.password)
    options.keep(server, { ...session, password, start: 'until' in start ? start : undefined })
  }
  /** What servers list is not known as long as they have yet to register again. @throws {Unavailable} */
  const assertKnown = (serverId?: string) => {
    if (gameServers().isExpected(serverId))
      throw new Unavailable('Game servers have yet to register again. Retry in a second.')
  }

  const forget = ({ server }: Start) => {
    starts.delete(server.matchId)
    wanted.delete(server.matchId)
    keep(server)
  }
  const giveUp = (start: Start) => {
    forget(start)
    options.drop(start.server)
  }
  /** The players want the server no longer. One that runs, and has not begun their session, is stock again. */
  const giveBack = (start: Start) => {
    const { matchId } = start.server
    if (gameServers().find(matchId) === undefined || seats.isListed(matchId)) return giveUp(start)
    forget(start)
    gameServers().changed(start.server)
  }

  /** A player has no seat on the server that starts. It is wanted as long as others have. */
  const leaveStart = (start: Start, leaving: number) => {
    const playerIds = start.playerIds.filter((_, index) => index !== leaving)
    const seatIds = start.seatIds.filter((_, index) => index !== leaving)
    if (playerIds.length === 0) return giveBack(start)
    starts.set(start.server.matchId, { ...start, playerIds, seatIds })
    keep(start.server)
  }

  /** The server lists what was wanted: the players who had it started get their seats. */
  const begun = (start: Start) => {
    const { server, playerIds, seatIds, groupId, wanted: session } = start
    starts.delete(server.matchId)
    keep(server)
    if (playerIds.length === 0) return
    try {
      seats.hold({ serverId: server.matchId, playerIds, groupId, password: session.password, seatIds })
    } catch (error) {
      // They have seats elsewhere by now, or the server says that it is locked.
      if (!(error instanceof SeatRefused)) throw error
    }
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

  /** A game need not say who owns the session that it was told to list. */
  const ownerOf = (serverId: string) => wanted.get(serverId)?.owner ?? seats.listing(serverId)?.listing.owner
  /** Servers of a pool that players have started, and those of one player. */
  const startedIn = (pool: string, owner: string | undefined) => {
    const serverIds = new Set([...wanted.keys(), ...seats.serverIds()])
    const all = [...serverIds].filter((serverId) => find(serverId)?.pool === pool)
    const own = owner === undefined ? [] : all.filter((serverId) => ownerOf(serverId) === owner)
    return { all: all.length, own: own.length }
  }

  /** Servers that players have started end once they have been empty for a while. */
  const endEmpty = (now: number) => {
    for (const serverId of seats.serverIds()) {
      const server = find(serverId)
      const custom = options.pool(server?.pool ?? '')?.custom
      if (server === undefined || custom === undefined || seats.isOccupied(serverId) || starts.has(serverId)) {
        emptySince.delete(serverId)
        continue
      }
      const since = emptySince.get(serverId) ?? now
      emptySince.set(serverId, since)
      if (now - since >= custom.emptySeconds * 1000) gameServers().drain(server, 'surplus')
    }
  }

  return {
    /** What the registry of game servers says and asks. */
    games: {
      listed: (server, listing, instance) => {
        const { matchId } = server
        seats.listed(matchId, listing, instance)
        list.touch(matchId)
        if (listing === undefined) emptySince.delete(matchId)
        const session = wanted.get(matchId)
        if (session === undefined) return
        const start = starts.get(matchId)
        if (listing?.session === session.session && start !== undefined && find(matchId)?.assignment !== undefined)
          begun(start)
        // A server that lists something else has ended the session, or its process has.
        else if (start === undefined && listing?.session !== session.session) {
          wanted.delete(matchId)
          keep(server)
        }
      },
      seatsOn: ({ matchId }) => ({ listing: seats.on(matchId), host: wanted.get(matchId) }),
      isListed: ({ matchId }) => seats.isListed(matchId),
      isOccupied: ({ matchId }) => seats.isOccupied(matchId),
    } satisfies Pick<GameServerListener, 'listed' | 'seatsOn' | 'isListed' | 'isOccupied'>,
    /** Something that the list says of a server has changed, e.g. that it is lost. */
    touch: list.touch,

    /** @throws {InvalidInput} naming the field, for a listing that the configuration does not allow */
    assertListing: ({ listing }: Pick<ServerReport, 'listing'>) => {
      const fault = attributeFault(browser, listing?.attributes ?? {})
      if (fault === undefined) return
      const field = `listing.attributes.${fault.name}`
      throw new InvalidInput(`${field}: ${fault.message}`, { field })
    },

    /** @throws {Unavailable} as long as servers have yet to register again, so that the list is not known */
    changes: (known: ListKnown | undefined): ListChanges => {
      assertKnown()
      return list.changes(known)
    },
    /** @throws as `Seats.hold`; {Unavailable} if the server has yet to register again */
    hold: (request: SeatRequest): SeatsGranted => {
      assertKnown(request.serverId)
      const { seats: held, isNew } = seats.hold(request)
      return { seats: held.map(grantOf), isNew }
    },
    /**
     * The client of a seat reads it, so that its hold lasts longer. Undefined: no such seat of this player.
     * @throws {Unavailable} for an unknown seat, as long as servers have yet to register again
     */
    follow: (seatId: string, playerId: string | undefined): SeatGrant | undefined => {
      const seat = seats.find(seatId)
      if (seat === undefined) {
        const found = startWith('seatIds', seatId)
        if (found === undefined) assertKnown()
        const starting = found && startingSeat(found.start, found.index)
        return playerId === undefined || starting?.playerId === playerId ? starting : undefined
      }
      if (playerId !== undefined && seat.playerId !== playerId) return undefined
      return grantOf(seats.renew(seatId) ?? seat)
    },
    /**
     * Gives a seat back. Returns the id of its server, about which something may be written then; undefined if the
     * player has no such seat.
     * @throws as `follow`
     */
    release: (seatId: string, playerId: string | undefined) => {
      const seat = seats.find(seatId)
      if (seat !== undefined && (playerId === undefined || seat.playerId === playerId)) {
        seats.release(seatId)
        return seat.serverId
      }
      const found = startWith('seatIds', seatId)
      if (found === undefined) {
        if (seat === undefined) assertKnown()
        return undefined
      }
      const { start, index } = found
      const owner = start.playerIds[index] as string
      // Only the owner ends a start: the seats of the others expire.
      if (owner !== start.wanted.owner || (playerId !== undefined && owner !== playerId)) return undefined
      giveBack(start)
      seats.unused(owner)
      return start.server.matchId
    },
    ofPlayer: (playerId: string): readonly SeatGrant[] => {
      const seat = seats.ofPlayer(playerId)
      if (seat !== undefined) return [grantOf(seat)]
      const found = startWith('playerIds', playerId)
      return found === undefined ? [] : [startingSeat(found.start, found.index)]
    },

    /** The name of a listed server, and its seats, which are counted for that. Undefined if it is not listed. */
    listing: (serverId: string): { readonly name: string; readonly seats: SeatCounts } | undefined => {
      const session = seats.read(serverId)
      return session && { name: session.listing.name, seats: session.counts }
    },

    /** These players are sent to a match: seats that are held for them, or are to be, are free. */
    matched: (playerIds: readonly string[]) => {
      for (const playerId of playerIds) {
        const seat = seats.ofPlayer(playerId)
        if (seat?.state === 'held') seats.release(seat.id)
        const found = startWith('playerIds', playerId)
        if (found !== undefined) leaveStart(found.start, found.index)
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
      const before = owner === undefined ? undefined : startWith('playerIds', owner)?.start
      if (before !== undefined) {
        // The same again, for those of the players for whom it was started.
        const again = playerIds.flatMap((playerId) => {
          const index = before.playerIds.indexOf(playerId)
          return index === -1 ? [] : [startingSeat(before, index)]
        })
        return { seats: again, isNew: false, serverId: before.server.matchId }
      }
      const { all, own } = startedIn(pool, owner)
      if (owner !== undefined && own >= custom.perPlayer)
        throw new SeatRefused('too-many-servers', 'The player has started as many servers as allowed. End one first.')
      for (const playerId of playerIds) {
        const seat = seats.ofPlayer(playerId)
        if (seat?.state === 'taken')
          throw new SeatRefused('seat-held-elsewhere', 'The player is on another server. Give that seat back first.', {
            playerId,
            seatId: seat.id,
          })
      }
      const server = all >= custom.max ? undefined : options.serverFor(pool, near)
      if (server === undefined)
        throw new SeatRefused('no-capacity', 'No more servers may be started now. Try again later.', {
          retryAfterMs: 10_000,
        })
      const session = { session: newId(random), name, password, owner, attributes }
      const start: Start = {
        server,
        wanted: session,
        playerIds,
        seatIds: playerIds.map(() => newId(random)),
        groupId: request.groupId,
        near,
        until: clock.now() + START_MS,
      }
      starts.set(server.matchId, start)
      wanted.set(server.matchId, session)
      keep(server)
      gameServers().changed(server)
      const started = playerIds.map((_, index) => startingSeat(start, index))
      return { seats: started, isNew: true, serverId: server.matchId }
    },

    /** Takes over a session that an earlier process has stored. */
    adopt: (server: Allocation, { start, owner, password: sealed, ...rest }: StoredSession) => {
      const password = sealed === undefined ? undefined : keys.unseal(sealed)
      // It was sealed by another master secret, which has made the token of the server too.
      if (password === undefined && sealed !== undefined) return
      const session = { ...rest, owner, password }
      wanted.set(server.matchId, session)
      // A clock that was set back must not prolong it.
      const until = Math.min(start?.until ?? 0, clock.now() + START_MS)
      if (start !== undefined) starts.set(server.matchId, { ...start, until, server, wanted: session })
    },

    /** For whom the server is listed, or is to be; undefined: it is not. */
    useOf: ({ matchId }: Allocation): ServerUse | undefined => {
      if (wanted.has(matchId)) return 'started'
      if (!seats.isListed(matchId)) return undefined
      if (seats.hasGiven(matchId)) return 'seated'
      return seats.isOccupied(matchId) ? 'claimed' : 'empty'
    },

    advance: (now: number) => {
      seats.advance(now)
      for (const start of starts.values()) {
        const { server, until } = start
        if (find(server.matchId) !== server || server.unwanted !== undefined || now >= until) giveUp(start)
        else if (server.assignment !== undefined && seats.listing(server.matchId)?.session === start.wanted.session)
          begun(start)
      }
      endEmpty(now)
    },
  }
}
