import { InvalidInput } from '@muster/core'
import { Unavailable } from '../errors.js'
import { type GameServerListener, type GameServers, isOpen, type SeatCounts } from '../game-servers/index.js'
import type { ServerUse } from '../pools/index.js'
import type { ListingReport, Server, ServerReport } from '../records/index.js'
import { Seats, type Seat, type SeatRequest } from '../seats/index.js'
import { attributeFault } from './browser-definition.js'
import { createListedServers, type ListChanges, type ListedServer, type ListKnown } from './listed-servers.js'
import { ServerStarts, type SeatGrant, type SeatsGranted, type ServerStartsOptions } from './server-starts.js'

export interface ServerBrowserOptions extends Omit<ServerStartsOptions, 'seats' | 'grantOf'> {
  readonly gameServers: Pick<GameServers, 'changed' | 'drain' | 'isExpected'>
  readonly joinToken: (seat: Seat) => string
  /** Called when a player repeatedly let reserved seats expire. */
  readonly unused: (playerId: string) => void
}

/** Milliseconds for which players without a seat from Muster keep a server from ending (our choice: 1 h). */
const CLAIMED_MS = 3_600_000

/** The listed servers and the seats on them. */
export class ServerBrowser {
  readonly #options: ServerBrowserOptions
  /** Epoch milliseconds since when no player with a seat from Muster is on the server, by server id. */
  readonly #emptySince = new Map<string, number>()
  readonly #seats: Seats
  readonly #list: ReturnType<typeof createListedServers>
  readonly starts: ServerStarts

  constructor(options: ServerBrowserOptions) {
    this.#options = options
    const { browser, clock, random, find, gameServers } = options
    this.#seats = new Seats({
      clock,
      random,
      holdMs: browser.holdSeconds * 1000,
      maxHoldMs: browser.maxHoldSeconds * 1000,
      server: (serverId) => {
        const server = find(serverId)
        return {
          build: server?.presence?.registration.build,
          isOpen: server?.assignment !== undefined && isOpen(server),
        }
      },
      changed: (serverId) => {
        this.#list.touch(serverId)
        const server = find(serverId)
        if (server !== undefined) gameServers.changed(server)
      },
      unused: options.unused,
    })
    this.#list = createListedServers((serverId) => this.#listedOf(serverId), random)
    this.starts = new ServerStarts({ ...options, seats: this.#seats, grantOf: (seat) => this.#grantOf(seat) })
  }

  /** Applies the listing of a server's last report. Undefined if it is not listed. See `GameServerListener.listed`. */
  listed(server: Server, listing: ListingReport | undefined, instance: string): void {
    const { id } = server
    this.#seats.listed(id, listing, instance, server.isListed)
    this.#list.touch(id)
    if (listing === undefined) this.#emptySince.delete(id)
    this.starts.listed(server, listing)
  }
  seatsOn({ id }: Server): ReturnType<GameServerListener['seatsOn']> {
    return { listing: this.#seats.on(id), host: this.starts.wantedOf(id) }
  }
  /** True if players are on the server. Players without a seat from Muster count for an hour. */
  isOccupied({ id }: Server): boolean {
    if (!this.#seats.isOccupied(id)) return false
    const since = this.#emptySince.get(id)
    return since === undefined || this.#options.clock.now() - since < CLAIMED_MS
  }

  /** Called when the public data of a server may have changed, e.g. because the server is lost. */
  touch(serverId: string): void {
    this.#list.touch(serverId)
  }

  /** @throws {InvalidInput} with the field, if the configuration does not allow an attribute of the listing */
  assertListing({ listing }: Pick<ServerReport, 'listing'>) {
    const fault = attributeFault(this.#options.browser, listing?.attributes ?? {})
    if (fault === undefined) return
    const field = `listing.attributes.${fault.name}`
    throw new InvalidInput(`${field}: ${fault.message}`, { field })
  }

  /**
   * Returns the changes of the list since a known state.
   * @throws {Unavailable} after a restart, until the servers have registered again
   */
  changes(known: ListKnown | undefined): ListChanges {
    this.#assertKnown()
    return this.#list.changes(known)
  }

  /**
   * Reserves seats.
   * @throws like `Seats.hold`; {Unavailable} after a restart, until the server has registered again
   */
  hold(request: SeatRequest): SeatsGranted {
    this.#assertKnown(request.serverId)
    const { seats: held, isNew } = this.#seats.hold(request)
    return { seats: held.map((seat) => this.#grantOf(seat)), isNew }
  }

  /**
   * Reads a seat for its client, which keeps the seat reserved. Undefined if this player has no such seat.
   * @throws {Unavailable} for an unknown seat, after a restart until the servers have registered again
   */
  follow(seatId: string, playerId: string | undefined): SeatGrant | undefined {
    const seat = this.#seats.find(seatId)
    if (seat === undefined) {
      const found = this.starts.startWith('seatIds', seatId)
      if (found === undefined) this.#assertKnown()
      const starting = found && this.starts.startingSeat(found.start, found.party, found.index)
      return playerId === undefined || starting?.playerId === playerId ? starting : undefined
    }
    if (playerId !== undefined && seat.playerId !== playerId) return undefined
    return this.#grantOf(this.#seats.renew(seatId) ?? seat)
  }

  /**
   * Gives a seat back. Returns the id of the seat's server. Undefined if the player has no such seat.
   * @throws like `follow`
   */
  release(seatId: string, playerId: string | undefined) {
    const seat = this.#seats.find(seatId)
    if (seat !== undefined && (playerId === undefined || seat.playerId === playerId)) {
      this.#seats.release(seatId, playerId !== undefined)
      return seat.serverId
    }
    const found = this.starts.startWith('seatIds', seatId)
    if (found === undefined) {
      if (seat === undefined) this.#assertKnown()
      return undefined
    }
    const { start, party, index } = found
    const id = party.playerIds[index] as string
    const isTheirs = playerId === undefined || id === playerId
    // Only the owner can give back the seats of the party that requested the server, and only all of them together.
    const isFirst = start.seatIds.includes(seatId)
    if (!isTheirs || (isFirst && id !== start.wanted.owner)) return undefined
    this.starts.leave(start, isFirst ? start.playerIds : [id])
    this.#seats.unused(id)
    return start.server.id
  }

  ofPlayer(playerId: string): readonly SeatGrant[] {
    const seat = this.#seats.ofPlayer(playerId)
    if (seat !== undefined) return [this.#grantOf(seat)]
    const found = this.starts.startWith('playerIds', playerId)
    return found === undefined ? [] : [this.starts.startingSeat(found.start, found.party, found.index)]
  }

  /** Returns the name of a listed server and its current seat counts. Undefined if it is not listed. */
  listing(serverId: string): { readonly name: string; readonly seats: SeatCounts } | undefined {
    const session = this.#seats.read(serverId)
    return session && { name: session.listing.name, seats: session.counts }
  }

  /** Called when these players are sent to a match. Their reserved and promised seats become free. */
  matched(playerIds: readonly string[]) {
    for (const playerId of playerIds) {
      const seat = this.#seats.ofPlayer(playerId)
      if (seat?.state === 'held') this.#seats.release(seat.id)
      this.#seats.sentElsewhere(playerId)
      const found = this.starts.startWith('playerIds', playerId)
      if (found !== undefined) this.starts.leave(found.start, [playerId])
    }
  }

  /** Returns how a listed server, or one that players have requested, is used. Undefined for any other server. */
  useOf({ id }: Server): ServerUse | undefined {
    if (this.starts.wantedOf(id) !== undefined) return 'started'
    if (!this.#seats.isListed(id)) return undefined
    if (this.#seats.hasGiven(id)) return 'seated'
    return this.#seats.isOccupied(id) ? 'claimed' : 'empty'
  }

  /**
   * Called after a restart, and after this process was suspended, before anything expires. Neither players nor servers
   * could report meanwhile, so the time of each held seat, requested server and empty session begins again.
   */
  resumed(now: number) {
    this.#seats.resumed(now)
    this.starts.resumed(now)
    this.#emptySince.clear()
  }

  /** @param wasPaused true if this process was suspended since the last call */
  advance(now: number, wasPaused: boolean) {
    if (wasPaused) this.resumed(now)
    this.#seats.advance(now)
    this.starts.advance(now)
    this.#endEmpty(now)
  }

  #grantOf(seat: Seat): SeatGrant {
    const { session: _, ...rest } = seat
    return {
      ...rest,
      joinToken: this.#options.joinToken(seat),
      assignment: this.#options.find(seat.serverId)?.assignment,
    }
  }

  /** @throws {Unavailable} after a restart, until the servers have registered again: their listings are unknown */
  #assertKnown(serverId?: string) {
    if (this.#options.gameServers.isExpected(serverId))
      throw new Unavailable('Game servers have not registered again since the restart. Retry in a second.')
  }

  /** Ends servers of pools with `custom` that have been empty for longer than `emptySeconds`. */
  #endEmpty(now: number) {
    for (const serverId of this.#seats.serverIds()) {
      const server = this.#options.find(serverId)
      if (server === undefined || this.#seats.hasInvited(serverId) || this.starts.isStarting(serverId)) {
        this.#emptySince.delete(serverId)
        continue
      }
      const since = this.#emptySince.get(serverId) ?? now
      this.#emptySince.set(serverId, since)
      const custom = this.#options.pools.find(server.pool ?? '')?.definition.custom
      if (custom === undefined || this.isOccupied(server)) continue
      if (now - since >= custom.emptySeconds * 1000) this.#options.gameServers.drain(server, 'surplus')
    }
  }

  /** Returns the public data of a server. Undefined if the server is not listed. */
  #listedOf(serverId: string): ListedServer | undefined {
    const session = this.#seats.read(serverId)
    const server = this.#options.find(serverId)
    if (session === undefined || server?.assignment === undefined) return undefined
    const { listing, counts, teams } = session
    const registration = server.presence?.registration
    const { city, country, latitude, longitude } = server.assignment.location ?? {}
    const isPlaced = latitude !== undefined && longitude !== undefined
    return {
      id: serverId,
      name: listing.name,
      pool: server.pool ?? server.queue,
      build: registration?.build,
      place: isPlaced ? { city, country, latitude, longitude } : undefined,
      attributes: { ...registration?.attributes, ...listing.attributes },
      isOpen: !listing.locked && isOpen(server),
      hasPassword: listing.password !== undefined,
      seats: counts,
      teams,
    }
  }
}
