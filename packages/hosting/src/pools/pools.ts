import type { Coordinates } from '@muster/core'
import { type Clock, dateOf } from '@muster/core/clock'
import { createSets } from '@muster/core/internal'
import { freePlacesOn } from '../game-servers/index.js'
import {
  buildOf,
  type DrainReason,
  ENROLLED,
  type FoundTicket,
  type HostedMatch,
  isEnrolled,
  type Order,
  type Server,
} from '../records/index.js'
import { type BootBackoff, createBootBackoff } from './boot-backoff.js'
import type { Pool } from './pool-definition.js'
import {
  detourAt,
  addedLatencyMs,
  isSamePoint,
  kmTo,
  locationOf,
  SAME_PLACE_KM,
  type WarmNeeds,
} from './added-latency.js'
import { enrolmentEnd, type EnrolmentView, enrolmentViewsOf } from './enrolment.js'
import { orderOf } from './pool-order.js'
import { added, countOf, goalsOf, isAged, newPlace, type PoolPlace, type PoolPlaceView } from './pool-place.js'
import type { ServerUse } from './server-use.js'
import {
  endIdleness,
  groupedByPlace,
  hasServedAll,
  isThere,
  mayHang,
  type PlaceCheck,
  newPooledServer,
  returning,
  type SortedStock,
  type PooledServer,
} from './pooled-server.js'
import { lossShare, mostWarm } from './stock-size.js'

/** A configured pool, and how its servers are ordered. */
export interface PoolState {
  readonly definition: Pool
  /** Returns the order of a server for a match: at placements of the match's rules, or else near its tickets. */
  orderFor(near: readonly FoundTicket[], placements: Order['placements']): Order
  /** Returns the order of a server for players, at the pool's nearest location. Undefined if there is none. */
  orderAt(near: Coordinates | undefined): Order | undefined
}

export interface PoolsOptions {
  readonly pools: readonly Pool[]
  readonly clock: Pick<Clock, 'now' | 'wallStepMs'>
  /** Returns how many warm servers may be created now at a source. 0 while creates for matches wait. */
  readonly room: (source: string | undefined) => number
  readonly create: (pool: string, order: Order) => Server
  readonly drain: (server: Server, reason: DrainReason) => void
  /**
   * Returns how a server is used that is listed or requested by players. Undefined for servers that matches may use.
   */
  readonly useOf: (server: Server) => ServerUse | undefined
}

/** Milliseconds between two checks of the warm servers: usually, and after a change. */
const CHECK_MS = 1000
const CHECK_SOON_MS = 200
/** Maximum number of locations of a pool without configured locations. */
const MOST_PLACES = 64

interface OperatedPool extends PoolState {
  readonly places: PoolPlace[]
  readonly build: string
  readonly boots: BootBackoff
}

/** All pools. Decides how many servers are kept warm, which server a match gets, and when servers end. */
export class Pools {
  readonly #options: PoolsOptions
  readonly #states = new Map<string, OperatedPool>()
  readonly #stock = new Map<Server, PooledServer>()
  readonly #byPool = createSets<string, PooledServer>()
  readonly #paused = new Set<string>()
  /** Servers that may have a free place. They are removed when found full, and added again when a match leaves. */
  readonly #withRoom = new Set<PooledServer>()
  #checkedAt = -Infinity
  #isCheckUrgent = false
  /** Number of servers that this check may still create: at the source, and of the pool. Undefined until counted. */
  #roomLeft = 0
  #stockLeft: number | undefined

  constructor(options: PoolsOptions) {
    this.#options = options
    for (const pool of options.pools) this.#define(pool)
  }

  find(name: string): PoolState | undefined {
    return this.#states.get(name)
  }
  definitions(): readonly Pool[] {
    return Array.from(this.#states.values(), ({ definition }) => definition)
  }
  enrolments(): readonly EnrolmentView[] {
    return this.definitions().flatMap(enrolmentViewsOf)
  }
  /** Returns the order of a stored server after a restart. Undefined if its pool was removed. */
  orderOf(pool: string): Order | undefined {
    const definition = this.#states.get(pool)?.definition
    return definition && orderOf(definition, {})
  }

  /** Called when a server was created for a match or for players. */
  created(server: Server, near: Coordinates | undefined): void {
    const place = this.#placeOf(server.pool ?? '', near)
    if (place !== undefined) this.#remember(server, place)
  }
  /** Called for a server from before a restart, or one that has enrolled. @param createdAt epoch milliseconds */
  adopted(server: Server, createdAt: number, at: Coordinates | undefined): void {
    const now = this.#options.clock.now()
    // A server whose pool was removed gets a location too. The next check drains it.
    const place = this.#placeOf(server.pool ?? '', at) ?? newPlace('anywhere', at, now)
    // If the clock was set back meanwhile, the server must not live longer.
    this.#remember(server, place, Math.min(createdAt, now), true)
  }
  /** Called when a server has registered, even repeatedly. */
  up(server: Server): void {
    const one = this.#stock.get(server)
    if (one === undefined) return
    // The server may have more places than in its previous registration.
    this.#withRoom.add(one)
    if (one.isUp) return
    one.isUp = true
    this.#states.get(server.pool ?? '')?.boots.booted()
    if (!one.isAdopted) one.place.demand.booted(this.#options.clock.now() - one.createdAt)
    this.#updateIdleness(one)
  }
  began(server: Server): void {
    const one = this.#stock.get(server)
    if (one !== undefined) this.#updateIdleness(one)
  }
  ended(server: Server, match: HostedMatch): void {
    const one = this.#stock.get(server)
    if (one === undefined) return
    this.#withRoom.add(one)
    // A match whose players were never sent to the server has no duration.
    if (match.readyAt < Infinity) one.place.demand.played(this.#options.clock.now() - match.readyAt)
    this.#updateIdleness(one)
    const definition = this.#states.get(server.pool ?? '')?.definition
    if (definition === undefined || hasServedAll(one, definition)) this.#drain(one, 'retired')
  }
  /** Called when a server gets no further matches. */
  draining(server: Server): void {
    const one = this.#stock.get(server)
    if (one === undefined) return
    one.isDraining = true
    this.#updateIdleness(one)
  }
  gone(server: Server): void {
    const one = this.#stock.get(server)
    if (one === undefined) return
    endIdleness(one, this.#options.clock.now())
    if (!one.isUp) this.#states.get(server.pool ?? '')?.boots.gone(server.stopReason)
    this.#forget(one)
    this.#isCheckUrgent = true
  }

  /** True if the server belongs to a pool, has no match, and is neither listed nor requested by players. */
  isEmpty(server: Server): boolean {
    const one = this.#stock.get(server)
    return one !== undefined && this.#isEmpty(one)
  }
  /** True if the server's location is the pool's nearest to these coordinates. */
  isNear(server: Server, near: Coordinates | undefined): boolean {
    const place = this.#stock.get(server)?.place
    return place !== undefined && place === this.#placeOf(server.pool ?? '', near)
  }
  /** Returns the name of a server's location in its pool. Undefined for a server without a pool. */
  placeNameOf(server: Server): string | undefined {
    return this.#stock.get(server)?.place.name
  }

  /** Returns the best warm server for a match or a player. Undefined if none fits. */
  warmFor({ definition }: PoolState, needs: WarmNeeds): Server | undefined {
    const best = this.#placeOf(definition.name, needs.placements?.[0]?.coordinates ?? needs.middle)
    const fitting: { readonly one: PooledServer; readonly detour: number }[] = []
    for (const one of this.#withRoom) {
      if (one.server.pool !== definition.name) continue
      const places = this.#placesOn(one, definition)
      if (places === 0) this.#withRoom.delete(one)
      if (places === 0 || places === undefined || (needs.isEmpty === true && !this.#isEmpty(one))) continue
      const detour = addedLatencyMs(one.server, needs, best)
      if (detour !== undefined && detour <= definition.detourMs) fitting.push({ one, detour })
    }
    const now = this.#options.clock.now()
    // Prefer the current build, then the least added latency, then servers that do not seem to hang, then the fullest
    // server, so that others become empty.
    const [chosen] = fitting.toSorted(
      (a, b) =>
        Number(this.#isOld(a.one)) - Number(this.#isOld(b.one)) ||
        a.detour - b.detour ||
        Number(mayHang(a.one, now)) - Number(mayHang(b.one, now)) ||
        b.one.server.guests.size - a.one.server.guests.size ||
        a.one.idleSince - b.one.idleSince,
    )
    return chosen?.one.server
  }

  /**
   * Counts a match as demand for a server. Returns a function that uncounts the match. Undefined without a location.
   */
  countDemand({ definition }: PoolState, warm: Server | undefined, needs: WarmNeeds): (() => void) | undefined {
    const nearest = this.#placeOf(definition.name, needs.placements?.[0]?.coordinates ?? needs.middle)
    if (nearest === undefined) return undefined
    const now = this.#options.clock.now()
    // If no location is near enough for the match, warm servers would not help, so the prediction ignores the match.
    const place = this.#placeFor(definition, needs)
    const shown = place ?? nearest
    shown.asked += 1
    if (warm !== undefined) shown.hits += 1
    place?.demand.arrived(now)
    // Check soon, because the taken server should be replaced.
    this.#isCheckUrgent = true
    return () => place?.demand.withdrawn(now, this.#options.clock.now())
  }

  /** Returns the number of matches that the warm servers of a pool can take now. */
  freePlaces(pool: string): number {
    const definition = this.#states.get(pool)?.definition
    if (definition === undefined) return 0
    let places = 0
    for (const one of this.#withRoom) if (one.server.pool === pool) places += this.#placesOn(one, definition) ?? 0
    return places
  }

  /** True if the pool is paused, so that no servers are kept warm. Undefined if there is no such pool. */
  isPaused(pool: string): boolean | undefined {
    return this.#states.has(pool) ? this.#paused.has(pool) : undefined
  }
  /** Pauses a pool, so that its idle servers end, or resumes it. Removing the pool ends a pause. */
  setPaused(pool: string, isPaused: boolean): void {
    if (isPaused) this.#paused.add(pool)
    else this.#paused.delete(pool)
    this.#isCheckUrgent = true
  }

  /** Replaces the pools. Servers of removed pools are drained soon, outdated servers once new ones are warm. */
  reconfigure(pools: readonly Pool[]): void {
    const names = new Set(pools.map(({ name }) => name))
    for (const name of this.#states.keys())
      if (!names.has(name)) {
        this.#states.delete(name)
        this.#paused.delete(name)
      }
    for (const pool of pools) this.#define(pool)
    this.#isCheckUrgent = true
  }

  /** Creates missing servers and drains surplus ones. Called in each tick once the stored servers are taken over. */
  advance(now: number): void {
    if (now - this.#checkedAt < (this.#isCheckUrgent ? CHECK_SOON_MS : CHECK_MS)) return
    this.#checkedAt = now
    this.#isCheckUrgent = false
    const states = [...this.#states.values()]
    // Read the limits of all sources first, because they decrease as soon as a create waits.
    const rooms = new Map(states.map(({ definition: { source } }) => [source, this.#options.room(source)]))
    let ordered = 0
    for (const state of states) {
      this.#stockLeft = undefined
      const before = Math.min(Math.max(0, (rooms.get(state.definition.source) ?? 0) - ordered), state.boots.room(now))
      this.#roomLeft = before
      for (const check of this.#checksOf(state, now)) this.#adjust(check)
      if (before < Infinity) ordered += before - this.#roomLeft
    }
    for (const name of this.#byPool.keys())
      if (!this.#states.has(name)) for (const one of this.#byPool.of(name)) this.#drain(one, 'update')
  }

  views(now: number): readonly PoolPlaceView[] {
    return [...this.#states.values()].flatMap((state) => this.#checksOf(state, now).map((check) => this.#viewOf(check)))
  }

  #viewOf({ definition: { name }, place, all, goal, now }: PlaceCheck): PoolPlaceView {
    const { demand, asked, hits, idleMs } = place
    const rate = demand.rate(now)
    const up = all.filter((one) => one.isUp && !one.isDraining)
    const idle = up.filter((one) => this.#isEmpty(one))
    const isOwn = all.some(({ server }) => isEnrolled(server))
    const paid = idle.filter(({ server, idleSince }) => !isEnrolled(server) && idleSince < now)
    return {
      pool: name,
      place: place.name,
      paused: this.#paused.has(name),
      wanted: goal,
      starting: all.filter((one) => !one.isUp && !one.isDraining).length,
      idle: idle.length,
      playing: up.length - idle.length,
      draining: all.filter((one) => one.isDraining).length,
      asked,
      hits,
      // The number of warm servers says nothing about the places of enrolled servers, which matches take first.
      expectedHit: rate > 0 && !isOwn ? 1 - lossShare(goal, rate * demand.bootSeconds()) : undefined,
      ratePerHour: rate * 3600,
      cameLastHour: demand.lastHour(now),
      bootSeconds: demand.bootSeconds(),
      idleHours: (idleMs + paid.reduce((sum, { idleSince }) => sum + now - idleSince, 0)) / 3_600_000,
    }
  }

  #define(definition: Pool): void {
    const { name, deploy } = definition
    const before = this.#states.get(name)
    const places = definition.places?.map(({ name: placeName, ...coordinates }) => {
      const kept = before?.places.find((place) => place.name === placeName)
      if (kept === undefined) return newPlace(placeName, coordinates, this.#options.clock.now())
      return isSamePoint(kept.coordinates, coordinates) ? kept : { ...kept, coordinates }
    })
    this.#states.set(name, {
      definition,
      build: buildOf(deploy),
      boots: before?.build === buildOf(deploy) ? before.boots : createBootBackoff(),
      places: places ?? before?.places ?? [],
      orderFor: (near, placements) => orderOf(definition, { near, placements }),
      orderAt: (near) => {
        const place = this.#placeOf(name, near)
        return place?.coordinates === undefined ? undefined : orderOf(definition, { place })
      },
    })
    // Servers of a removed or moved location now belong to the nearest location.
    for (const one of this.#byPool.of(name))
      if (places?.includes(one.place) === false) one.place = this.#placeOf(name, locationOf(one.server)) ?? one.place
  }

  /** Returns the pool's nearest location. Without configured locations, a new one is made if none is near. */
  #placeOf(poolName: string, near: Coordinates | undefined): PoolPlace | undefined {
    const state = this.#states.get(poolName)
    if (state === undefined) return undefined
    const { places, definition } = state
    const nearest = places.toSorted((one, other) => kmTo(one, near) - kmTo(other, near))[0]
    if (definition.places !== undefined) return nearest
    const now = this.#options.clock.now()
    const unknown = places.find(({ coordinates }) => coordinates === undefined)
    if (near === undefined) return unknown ?? added(places, newPlace('anywhere', undefined, now))
    if (nearest !== undefined && (kmTo(nearest, near) <= SAME_PLACE_KM || places.length >= MOST_PLACES)) return nearest
    const { latitude, longitude } = near
    return added(places, newPlace(`${latitude.toFixed(1)}, ${longitude.toFixed(1)}`, near, now))
  }

  /** Returns the location whose servers add the least latency for the match. Undefined if each adds too much. */
  #placeFor({ name, detourMs, places: configured }: Pool, needs: WarmNeeds): PoolPlace | undefined {
    const best = this.#placeOf(name, needs.placements?.[0]?.coordinates ?? needs.middle)
    const fitting: { readonly place: PoolPlace; readonly detour: number }[] = []
    for (const place of configured === undefined ? [best] : (this.#states.get(name)?.places ?? [])) {
      const detour = place && detourAt(place.coordinates, needs, best)
      if (place !== undefined && detour !== undefined && detour <= detourMs) fitting.push({ place, detour })
    }
    return fitting.toSorted((one, other) => one.detour - other.detour)[0]?.place
  }

  /** Returns the servers and the goal of each location of a pool. */
  #checksOf({ definition, places }: OperatedPool, now: number): readonly PlaceCheck[] {
    const isPaused = this.#paused.has(definition.name)
    const goals = isPaused ? NO_GOALS : goalsOf(definition, places, { now, date: dateOf(this.#options.clock) })
    const byPlace = groupedByPlace(this.#byPool.of(definition.name))
    return places.map((place) => ({
      definition,
      place,
      all: byPlace.get(place) ?? [],
      goal: goals.get(place) ?? 0,
      now,
    }))
  }

  #isEmpty({ server }: PooledServer): boolean {
    return server.guests.size === 0 && this.#options.useOf(server) === undefined
  }
  /** True if no match and no player uses the server, even if it is listed. */
  #isStock({ server }: PooledServer): boolean {
    if (server.guests.size > 0) return false
    const use = this.#options.useOf(server)
    return use === undefined || use === 'empty'
  }
  /**
   * True if the server's use is not explained by a match, or by players who got it from Muster. Servers can report
   * false players or drains. So the number of such servers is limited to the maximum number of warm ones.
   */
  #isUnexplained(one: PooledServer): boolean {
    const { server } = one
    if (server.guests.size > 0 || isEnrolled(server) || server.stopReason !== undefined || this.#isOld(one))
      return false
    const use = this.#options.useOf(server)
    return use !== 'started' && use !== 'seated'
  }
  /** True if the pool now requires another version or source. */
  #isOld({ server }: PooledServer): boolean {
    const state = this.#states.get(server.pool ?? '')
    if (state === undefined) return true
    if (server.enrolled !== undefined) return enrolmentEnd(state.definition, server.enrolled) !== undefined
    return server.source !== state.definition.source || state.build !== server.build
  }
  /** Returns the number of matches that the server can take now. Undefined if it may take none. */
  #placesOn({ server, isDraining }: PooledServer, { reuse }: Pool): number | undefined {
    if (isDraining || this.#options.useOf(server) !== undefined) return undefined
    const places = freePlacesOn(server)
    return places === undefined ? undefined : Math.max(0, Math.min(places, reuse.maxMatches - server.matchesServed))
  }

  #remember(server: Server, place: PoolPlace, createdAt = this.#options.clock.now(), isAdopted = false): void {
    if (this.#stock.has(server)) return
    const one = newPooledServer(server, place, createdAt, isAdopted)
    const pool = server.pool ?? ''
    this.#stock.set(server, one)
    this.#byPool.add(pool, one)
  }
  #forget(one: PooledServer): void {
    const pool = one.server.pool ?? ''
    this.#stock.delete(one.server)
    this.#withRoom.delete(one)
    this.#byPool.delete(pool, one)
  }

  #drain(one: PooledServer, reason: DrainReason): void {
    if (one.isDraining) return
    one.isDraining = true
    this.#updateIdleness(one)
    this.#options.drain(one.server, reason)
  }

  /**
   * Updates the times since which a server is idle and empty. Each check calls it too, because a change of the server's
   * listing raises no event.
   */
  #updateIdleness(one: PooledServer): void {
    const now = this.#options.clock.now()
    const isReady = one.isUp && !one.isDraining
    if (isReady && this.#isEmpty(one)) one.idleSince = Math.min(one.idleSince, now)
    else endIdleness(one, now)
    one.emptySince = isReady && this.#isStock(one) ? Math.min(one.emptySince, now) : Infinity
  }

  /** Creates missing servers at a location, and drains outdated and surplus ones. */
  #adjust(check: PlaceCheck): void {
    const { definition, place, goal, now } = check
    const { outdated, here, misplaced, ready, playing } = this.#sort(check)
    let missing = goal - here.length - returning(playing, place)
    // A server is requested by coordinates, so the location of matches without coordinates gets no warm servers.
    for (; missing > 0 && this.#roomLeft > 0 && place.coordinates !== undefined; missing -= 1) {
      this.#stockLeft ??=
        mostWarm(definition) - countOf(this.#byPool.of(definition.name), (one) => this.#isUnexplained(one))
      if (this.#stockLeft <= 0) break
      this.#roomLeft -= 1
      this.#stockLeft -= 1
      this.#remember(this.#options.create(definition.name, orderOf(definition, { place })), place)
      this.#states.get(definition.name)?.boots.created(now)
    }
    // Keep servers of the previous version until enough new ones are ready.
    if (outdated.length > 0 && this.#areNewReady(definition, ready, goal))
      for (const one of outdated) this.#drain(one, 'update')
    const keptMs = this.#paused.has(definition.name) ? 0 : definition.keepIdleSeconds * 1000
    const longEmpty = (some: readonly PooledServer[]) =>
      some.filter(({ server, emptySince }) => !isEnrolled(server) && now - emptySince >= keptMs)
    const surplus = longEmpty(here).toSorted((one, other) => one.emptySince - other.emptySince)
    for (const one of surplus.slice(0, Math.max(0, -missing))) this.#drain(one, 'surplus')
    for (const one of longEmpty(misplaced)) this.#drain(one, 'surplus')
  }

  /** Sorts a location's servers by role. Drains those that are too old, have served all matches, or lost their key. */
  #sort({ definition, place, all, now }: PlaceCheck): SortedStock {
    const sorted: SortedStock = { outdated: [], here: [], misplaced: [], ready: 0, playing: 0 }
    for (const one of all) {
      if (one.isDraining) continue
      this.#updateIdleness(one)
      const hasServed = hasServedAll(one, definition)
      const { enrolled } = one.server
      const end = enrolled && enrolmentEnd(definition, enrolled)
      if (isAged(definition, place, one, now) || (hasServed && this.#isEmpty(one))) this.#drain(one, 'retired')
      else if (end !== undefined) this.#drain(one, end)
      else if (this.#isOld(one)) sorted.outdated.push(one)
      else {
        if (one.isUp) sorted.ready += 1
        if (hasServed) continue
        if (one.server.guests.size > 0) sorted.playing += 1
        else if (this.#isStock(one))
          (isEnrolled(one.server) || isThere(one, definition) ? sorted.here : sorted.misplaced).push(one)
      }
    }
    return sorted
  }

  /** True if enough new servers are ready. In a pool whose servers all enrol themselves, one is enough. */
  #areNewReady({ name, source }: Pool, ready: number, goal: number): boolean {
    if (source !== ENROLLED) return ready >= goal
    return [...this.#byPool.of(name)].some((one) => one.isUp && !one.isDraining && isEnrolled(one.server))
  }
}

const NO_GOALS: ReadonlyMap<PoolPlace, number> = new Map()
