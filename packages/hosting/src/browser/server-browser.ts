import { InvalidInput } from '@muster/core'
import { Unavailable } from '../errors.js'
import type { GameServerListener, GameServers, SeatCounts, ServerReport } from '../game-servers/index.js'
import type { ServerUse } from '../pools/index.js'
import type { Server } from '../records/index.js'
import { createSeats, type Seat, type SeatRequest } from '../seats/index.js'
import { attributeFault } from './browser-definition.js'
import { createListedServers, type ListChanges, type ListedServer, type ListKnown } from './listed-servers.js'
import { createServerStarts, type SeatGrant, type SeatsGranted, type ServerStartsOptions } from './server-starts.js'

export type ServerBrowser = ReturnType<typeof createServerBrowser>

export interface ServerBrowserOptions extends Omit<ServerStartsOptions, 'seats' | 'grantOf'> {
  readonly gameServers: () => Pick<GameServers, 'changed' | 'drain' | 'find' | 'isExpected' | 'isOpen'>
  readonly joinToken: (seat: Seat) => string
  /** A player let holds expire too often. */
  readonly unused: (playerId: string) => void
}

/** Milliseconds for which players without a seat by us keep a server that is to end (our choice). */
const CLAIMED_MS = 3_600_000

/** Creates what players see and have of listed servers. */
export function createServerBrowser(options: ServerBrowserOptions) {
  const { browser, clock, random, find, gameServers } = options
  /** Milliseconds of the clock since when servers have had nobody who has a seat by us. */
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
  const starts = createServerStarts({ ...options, seats, grantOf })

  /** What servers list is not known as long as they have yet to register again. @throws {Unavailable} */
  const assertKnown = (serverId?: string) => {
    if (gameServers().isExpected(serverId))
      throw new Unavailable('Game servers have yet to register again. Retry in a second.')
  }

  /** Players who are on a server by its word alone keep it for an hour. */
  const isOccupied = (serverId: string) => {
    if (!seats.isOccupied(serverId)) return false
    const since = emptySince.get(serverId)
    return since === undefined || clock.now() - since < CLAIMED_MS
  }

  /** Servers that players have started end once they have been empty for a while. */
  const endEmpty = (now: number) => {
    for (const serverId of seats.serverIds()) {
      const server = find(serverId)
      if (server === undefined || seats.hasInvited(serverId) || starts.isStarting(serverId)) {
        emptySince.delete(serverId)
        continue
      }
      const since = emptySince.get(serverId) ?? now
      emptySince.set(serverId, since)
      const custom = options.pool(server.pool ?? '')?.custom
      if (custom === undefined || isOccupied(serverId)) continue
      if (now - since >= custom.emptySeconds * 1000) gameServers().drain(server, 'surplus')
    }
  }

  return {
    /** What the registry of game servers says and asks. */
    games: {
      listed: (server, listing, instance) => {
        const { id } = server
        seats.listed(id, listing, instance, server.isListed)
        list.touch(id)
        if (listing === undefined) emptySince.delete(id)
        starts.listed(server, listing)
      },
      seatsOn: ({ id }) => ({ listing: seats.on(id), host: starts.wantedOf(id) }),
      isListed: ({ id }) => seats.isListed(id),
      isOccupied: ({ id }) => isOccupied(id),
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
        const found = starts.startWith('seatIds', seatId)
        if (found === undefined) assertKnown()
        const starting = found && starts.startingSeat(found.start, found.party, found.index)
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
        seats.release(seatId, playerId !== undefined)
        return seat.serverId
      }
      const found = starts.startWith('seatIds', seatId)
      if (found === undefined) {
        if (seat === undefined) assertKnown()
        return undefined
      }
      const { start, party, index } = found
      const id = party.playerIds[index] as string
      const isTheirs = playerId === undefined || id === playerId
      // Of those who had it started, only the owner gives it back, for all of them: the others' seats expire.
      const isFirst = start.seatIds.includes(seatId)
      if (!isTheirs || (isFirst && id !== start.wanted.owner)) return undefined
      starts.leave(start, isFirst ? start.playerIds : [id])
      seats.unused(id)
      return start.server.id
    },
    ofPlayer: (playerId: string): readonly SeatGrant[] => {
      const seat = seats.ofPlayer(playerId)
      if (seat !== undefined) return [grantOf(seat)]
      const found = starts.startWith('playerIds', playerId)
      return found === undefined ? [] : [starts.startingSeat(found.start, found.party, found.index)]
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
        seats.sentElsewhere(playerId)
        const found = starts.startWith('playerIds', playerId)
        if (found !== undefined) starts.leave(found.start, [playerId])
      }
    },

    start: starts.start,
    cancel: starts.cancel,
    isStarting: starts.isStarting,
    ended: starts.ended,
    adopt: starts.adopt,

    /** For whom the server is listed, or is to be; undefined: it is not. */
    useOf: ({ id }: Server): ServerUse | undefined => {
      if (starts.wantedOf(id) !== undefined) return 'started'
      if (!seats.isListed(id)) return undefined
      if (seats.hasGiven(id)) return 'seated'
      return seats.isOccupied(id) ? 'claimed' : 'empty'
    },

    advance: (now: number) => {
      seats.advance(now)
      starts.advance(now)
      endEmpty(now)
    },
  }
}
