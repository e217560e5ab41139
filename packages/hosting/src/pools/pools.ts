import { type Coordinates, greatCircleKm } from '@muster/core'
import { type Clock, dateOf } from '@muster/core/clock'
import type { DrainReason } from '../game-servers/index.js'
import {
  buildOf,
  ENROLLED,
  type FoundTicket,
  type HostedMatch,
  isEnrolled,
  type Order,
  type Server,
} from '../records/index.js'
import type { Pool } from './pool-definition.js'
import { detourAt, isSamePoint, KM_PER_MS, locatedAt, locationOf, SAME_PLACE_KM, type WarmNeeds } from './detour.js'
import { enrolmentEnd, type EnrolmentView, enrolmentViewsOf } from './enrolment.js'
import { orderOf } from './pool-order.js'
import { added, countOf, goalsOf, lifetimeMs, newPlace, type Place, type PoolPlaceView } from './pool-place.js'
import type { ServerUse } from './server-use.js'
import { lossShare, mostWarm } from './stock-size.js'

/** A server of a pool, as the pool sees it. */
interface Stock {
  readonly server: Server
  place: Place
  /** Epoch milliseconds. */
  readonly createdAt: number
  /** Whether it was created by an earlier process, so that its boot was not measured. */
  readonly isAdopted: boolean
  isUp: boolean
  isDraining: boolean
  /** Epoch milliseconds since when it has been idle; Infinity while it is not. */
  idleSince: number
  /** Epoch milliseconds since when nobody has been on it, also while it lists itself; Infinity while somebody is. */
  emptySince: number
}

type Remembered = Pick<Stock, 'place'> & Partial<Pick<Stock, 'createdAt' | 'isAdopted'>>

/** A look at a place of a pool: all of its servers there, and how many are to be warm. */
interface Look {
  readonly all: readonly Stock[]
  readonly goal: number
  /** Epoch milliseconds. */
  readonly now: number
}

/** A pool in operation. */
export interface PoolState {
  readonly definition: Pool
  /** The order of a server for a match: at the places that its rules choose, or else near its tickets. */
  orderFor(near: readonly FoundTicket[], placements: Order['placements']): Order
  /** The order of a server for players who start one; undefined if nothing says where. */
  orderAt(near: Coordinates | undefined): Order | undefined
}

/** All pools: which servers are warm, which a match may take, and how many more are needed. */
export type Pools = ReturnType<typeof createPools>

export interface PoolsOptions {
  readonly pools: readonly Pool[]
  readonly clock: Pick<Clock, 'now' | 'wallStepMs'>
  /** Servers of a source that may be created for stock now: none while matches wait for their creates. */
  readonly room: (source: string | undefined) => number
  readonly create: (pool: string, order: Order) => Server
  readonly drain: (server: Server, reason: DrainReason) => void
  /** For whom a server is listed, or is to be; undefined: it is not. No match takes it then. */
  readonly useOf: (server: Server) => ServerUse | undefined
  /** See `GameServers`. */
  readonly freePlaces: (server: Server) => number | undefined
}

/** Milliseconds between two looks at the stock, and after a server was taken or is gone. */
const LOOK_MS = 1000
const LOOK_SOON_MS = 200
/** Places of the demand, at most. */
const MOST_PLACES = 64

export function createPools(options: PoolsOptions) {
  const { clock, room, create, drain, useOf } = options
  const hasMatches = ({ server }: Stock) => server.guests.size > 0
  const isEmpty = (one: Stock) => !hasMatches(one) && useOf(one.server) === undefined
  /** A server without a match is stock until a player is on it, also while it lists itself. */
  const isStock = (one: Stock) => isEmpty(one) || (!hasMatches(one) && useOf(one.server) === 'empty')
  /**
   * Neither a match nor a player who asked us explains it. Servers say themselves who is on them, and whether they
   * drain: whatever they say, no more such servers are ordered than may be warm.
   */
  const isUnexplained = (one: Stock) => {
    if (hasMatches(one) || isEnrolled(one.server) || one.server.unwanted !== undefined || isOld(one)) return false
    const use = useOf(one.server)
    return use !== 'started' && use !== 'seated'
  }
  const isIdle = (one: Stock) => one.isUp && !one.isDraining && isEmpty(one)
  const states = new Map<string, PoolState & { readonly places: Place[]; readonly build: string }>()
  const stock = new Map<Server, Stock>()
  const byPool = new Map<string, Set<Stock>>()
  /** Names of pools that are paused. */
  const paused = new Set<string>()
  /** Servers that have registered, without those found full since one of their matches ended. */
  const roomy = new Set<Stock>()
  let lookedAt = -Infinity
  let isLookPressing = false
  /** Servers that the present look may still order: at the pool's source, and for the pool (undefined: not counted). */
  let roomLeft = 0
  let stockLeft: number | undefined

  const define = (definition: Pool) => {
    const before = states.get(definition.name)
    const places = definition.places?.map(({ name, ...coordinates }) => {
      const kept = before?.places.find((place) => place.name === name)
      if (kept === undefined) return newPlace(name, coordinates, clock.now())
      return isSamePoint(kept.coordinates, coordinates) ? kept : { ...kept, coordinates }
    })
    states.set(definition.name, {
      definition,
      build: buildOf(definition.deploy),
      places: places ?? before?.places ?? [],
      orderFor: (near, placements) => orderOf(definition, { near, placements }),
      orderAt: (near) => {
        const place = placeOf(definition.name, near)
        return place?.coordinates === undefined ? undefined : orderOf(definition, { place })
      },
    })
    // Servers of a place that is not kept, or is elsewhere now, count at the nearest one.
    for (const one of ofPool(definition.name))
      if (places?.includes(one.place) === false)
        one.place = placeOf(definition.name, locationOf(one.server)) ?? one.place
  }

  const distance = (place: Place, near: Coordinates | undefined) =>
    place.coordinates === undefined || near === undefined ? Infinity : greatCircleKm(place.coordinates, near)

  /** The place for demand near some coordinates. Without configured places it is made where there is none. */
  const placeOf = (poolName: string, near: Coordinates | undefined): Place | undefined => {
    const state = states.get(poolName)
    if (state === undefined) return undefined
    const { places, definition } = state
    const nearest = places.toSorted((one, other) => distance(one, near) - distance(other, near))[0]
    if (definition.places !== undefined) return nearest
    const unknown = places.find(({ coordinates }) => coordinates === undefined)
    if (near === undefined) return unknown ?? added(places, newPlace('anywhere', undefined, clock.now()))
    if (nearest !== undefined && (distance(nearest, near) <= SAME_PLACE_KM || places.length >= MOST_PLACES))
      return nearest
    const { latitude, longitude } = near
    return added(places, newPlace(`${latitude.toFixed(1)}, ${longitude.toFixed(1)}`, near, clock.now()))
  }

  /** Milliseconds of round trip that a warm server adds to the best place for a match; undefined: it does not fit. */
  const detourOf = (one: Stock, needs: WarmNeeds, best: Place | undefined): number | undefined => {
    // The limits of rules are never exceeded: until the service has said where the server runs, it fits no rule.
    const isKnown = one.server.isLocated || locatedAt(one.server) !== undefined
    const at = isKnown || (needs.placements?.length ?? 0) === 0 ? locationOf(one.server) : undefined
    return detourAt(at, needs, best)
  }

  /**
   * Whether a server was asked for about where its place is. One that was created for players elsewhere is no stock
   * there. Where the service put it does not count: a place where the service has nothing near would never be filled.
   */
  const isThere = ({ server, place }: Stock, { detourMs }: Pool) => {
    const at = server.tries[0]?.at ?? server.near
    if (at === undefined || place.coordinates === undefined) return true
    return greatCircleKm(at, place.coordinates) <= Math.max(SAME_PLACE_KM, detourMs * KM_PER_MS)
  }

  /** The place whose servers could serve the match with the least detour: its demand. Undefined: none could. */
  const placeFor = ({ name, detourMs, places: configured }: Pool, needs: WarmNeeds): Place | undefined => {
    const best = placeOf(name, needs.placements?.[0]?.coordinates ?? needs.middle)
    const fitting: { readonly place: Place; readonly detour: number }[] = []
    for (const place of configured === undefined ? [best] : (states.get(name)?.places ?? [])) {
      const detour = place && detourAt(place.coordinates, needs, best)
      if (place !== undefined && detour !== undefined && detour <= detourMs) fitting.push({ place, detour })
    }
    return fitting.toSorted((one, other) => one.detour - other.detour)[0]?.place
  }

  const isOld = ({ server }: Stock): boolean => {
    const state = states.get(server.pool ?? '')
    if (state === undefined) return true
    if (server.enrolled !== undefined) return enrolmentEnd(state.definition, server.enrolled) !== undefined
    return server.source !== state.definition.source || state.build !== server.build
  }

  const goalsFor = (definition: Pool, places: readonly Place[], now: number): ReadonlyMap<Place, number> =>
    paused.has(definition.name) ? NO_GOALS : goalsOf(definition, places, { now, date: dateOf(clock) })

  const ofPool = (name: string): ReadonlySet<Stock> => byPool.get(name) ?? NONE
  const byPlaceOf = (name: string): ReadonlyMap<Place, readonly Stock[]> => {
    const byPlace = new Map<Place, Stock[]>()
    for (const one of ofPool(name)) {
      const here = byPlace.get(one.place)
      if (here === undefined) byPlace.set(one.place, [one])
      else here.push(one)
    }
    return byPlace
  }
  for (const pool of options.pools) define(pool)

  const forget = (one: Stock) => {
    const pool = one.server.pool ?? ''
    stock.delete(one.server)
    roomy.delete(one)
    byPool.get(pool)?.delete(one)
    if (byPool.get(pool)?.size === 0) byPool.delete(pool)
  }

  const hasServedAll = ({ server }: Stock, { reuse }: Pool) => server.matchesServed >= reuse.maxMatches

  /** Matches that it could take now; undefined while it may take none. */
  const placesOn = (one: Stock, { reuse }: Pool): number | undefined => {
    const { server } = one
    if (one.isDraining || useOf(server) !== undefined) return undefined
    const places = options.freePlaces(server)
    return places === undefined ? undefined : Math.max(0, Math.min(places, reuse.maxMatches - server.matchesServed))
  }

  const take = (one: Stock, reason: DrainReason) => {
    if (one.isDraining) return
    one.isDraining = true
    lookWhetherIdle(one)
    drain(one.server, reason)
  }

  /**
   * Called when something has happened to a server, and with each look: it becomes busy and idle without the pool
   * hearing of it too, by listing itself, or for players who start one.
   */
  const lookWhetherIdle = (one: Stock) => {
    const now = clock.now()
    if (isIdle(one)) one.idleSince = Math.min(one.idleSince, now)
    else endIdleness(one, now)
    one.emptySince = one.isUp && !one.isDraining && isStock(one) ? Math.min(one.emptySince, now) : Infinity
  }
  const endIdleness = (one: Stock, now: number) => {
    if (one.idleSince < Infinity && !isEnrolled(one.server)) one.place.idleMs += now - one.idleSince
    one.idleSince = Infinity
  }

  const keep = (definition: Pool, place: Place, { all, goal, now }: Look) => {
    const outdated: Stock[] = []
    const stockHere: Stock[] = []
    const elsewhere: Stock[] = []
    let [playing, ready] = [0, 0]
    for (const one of all) {
      if (one.isDraining) continue
      lookWhetherIdle(one)
      const hasServed = hasServedAll(one, definition)
      const { enrolled } = one.server
      const end = enrolled && enrolmentEnd(definition, enrolled)
      const isAged = now - one.createdAt >= lifetimeMs(definition, place, one.server)
      if (isAged || (hasServed && isEmpty(one))) take(one, 'retired')
      else if (end !== undefined) take(one, end)
      else if (isOld(one)) outdated.push(one)
      else {
        if (one.isUp) ready += 1
        if (hasServed) continue
        if (hasMatches(one)) playing += 1
        else if (isStock(one)) (isEnrolled(one.server) || isThere(one, definition) ? stockHere : elsewhere).push(one)
      }
    }
    let missing = goal - stockHere.length - returning(playing, place)
    // The service chooses where a server runs by coordinates: without any, none can be asked for.
    for (; missing > 0 && roomLeft > 0 && place.coordinates !== undefined; missing -= 1) {
      stockLeft ??= mostWarm(definition) - countOf(ofPool(definition.name), isUnexplained)
      if (stockLeft <= 0) break
      roomLeft -= 1
      stockLeft -= 1
      const server = create(definition.name, orderOf(definition, { place }))
      remember(server, { place })
    }
    // Servers of the version or source before serve until the new ones are warm.
    if (outdated.length > 0 && areNewReady(definition, ready, goal)) for (const one of outdated) take(one, 'update')
    const keptMs = paused.has(definition.name) ? 0 : definition.keepIdleSeconds * 1000
    const longEmpty = (some: readonly Stock[]) =>
      some.filter(({ server, emptySince }) => !isEnrolled(server) && now - emptySince >= keptMs)
    const surplus = longEmpty(stockHere).toSorted((one, other) => one.emptySince - other.emptySince)
    for (const one of surplus.slice(0, Math.max(0, -missing))) take(one, 'surplus')
    for (const one of longEmpty(elsewhere)) take(one, 'surplus')
  }

  /** Where all servers come by themselves, those that are wanted need not exist: with the first one they are ready. */
  const areNewReady = ({ name, source }: Pool, ready: number, goal: number): boolean => {
    if (source !== ENROLLED) return ready >= goal
    return [...ofPool(name)].some((one) => one.isUp && !one.isDraining && isEnrolled(one.server))
  }

  /** Of servers that play, those that will be free within the time of a boot, on average: they need no replacement. */
  const returning = (playing: number, { demand }: Place): number =>
    Math.floor(playing * Math.min(1, demand.bootSeconds() / demand.matchSeconds()))

  const remember = (server: Server, { place, createdAt = clock.now(), isAdopted = false }: Remembered) => {
    if (stock.has(server)) return
    const present = { isUp: false, isDraining: false, idleSince: Infinity, emptySince: Infinity }
    const one: Stock = { server, place, createdAt, isAdopted, ...present }
    const pool = server.pool ?? ''
    stock.set(server, one)
    byPool.set(pool, (byPool.get(pool) ?? new Set()).add(one))
  }

  return {
    find: (name: string): PoolState | undefined => states.get(name),
    definitions: (): readonly Pool[] => Array.from(states.values(), ({ definition }) => definition),
    enrolments: (): readonly EnrolmentView[] =>
      [...states.values()].flatMap(({ definition }) => enrolmentViewsOf(definition)),
    /** The order of a server of an earlier process; undefined if its pool is gone. */
    orderOf: (pool: string): Order | undefined => {
      const definition = states.get(pool)?.definition
      return definition && orderOf(definition, {})
    },
    /** A server of the pool was ordered, for a match or for its stock. */
    created: (server: Server, near: Coordinates | undefined) => {
      const place = placeOf(server.pool ?? '', near)
      if (place !== undefined) remember(server, { place })
    },
    /** A server of an earlier process. @param createdAt epoch milliseconds. */
    adopted: (server: Server, createdAt: number, at: Coordinates | undefined) => {
      // Also one whose pool is gone: it is drained.
      const place = placeOf(server.pool ?? '', at) ?? newPlace('anywhere', at, clock.now())
      // A clock that was set back must not prolong its time.
      remember(server, { place, createdAt: Math.min(createdAt, clock.now()), isAdopted: true })
    },

    /** The best warm server for a match; undefined: none fits. */
    warmFor: ({ definition }: PoolState, needs: WarmNeeds): Server | undefined => {
      const best = placeOf(definition.name, needs.placements?.[0]?.coordinates ?? needs.middle)
      const fitting: { readonly one: Stock; readonly detour: number }[] = []
      for (const one of roomy) {
        if (one.server.pool !== definition.name) continue
        const places = placesOn(one, definition)
        if (places === 0) roomy.delete(one)
        if (places === 0 || places === undefined || (needs.isEmpty === true && !isEmpty(one))) continue
        const detour = detourOf(one, needs, best)
        if (detour !== undefined && detour <= definition.detourMs) fitting.push({ one, detour })
      }
      // Nearest first; of those, the fullest, so that others become empty; of those, the one that has waited longest.
      const [chosen] = fitting.toSorted(
        (a, b) =>
          Number(isOld(a.one)) - Number(isOld(b.one)) ||
          a.detour - b.detour ||
          b.one.server.guests.size - a.one.server.guests.size ||
          a.one.idleSince - b.one.idleSince,
      )
      return chosen?.one.server
    },

    /** A match wanted a server, and took a warm one or not. Returns what takes that back if it never begins. */
    asked: ({ definition }: PoolState, warm: Server | undefined, needs: WarmNeeds) => {
      const nearest = placeOf(definition.name, needs.placements?.[0]?.coordinates ?? needs.middle)
      if (nearest === undefined) return undefined
      const now = clock.now()
      // A match that no warm server of any place could serve is no reason to keep one.
      const place = placeFor(definition, needs)
      const shown = place ?? nearest
      shown.asked += 1
      if (warm !== undefined) shown.hits += 1
      place?.demand.arrived(now)
      // The server that was taken is replaced soon.
      isLookPressing = true
      return () => place?.demand.withdrawn(now, clock.now())
    },

    /** A server has registered, for the first time or again. */
    up: (server: Server) => {
      const one = stock.get(server)
      if (one === undefined) return
      // It may have registered for more matches than before.
      roomy.add(one)
      if (one.isUp) return
      one.isUp = true
      if (!one.isAdopted) one.place.demand.booted(clock.now() - one.createdAt)
      lookWhetherIdle(one)
    },
    /** A match has taken a server, or has left it. */
    began: (server: Server) => {
      const one = stock.get(server)
      if (one !== undefined) lookWhetherIdle(one)
    },
    ended: (server: Server, match: HostedMatch) => {
      const one = stock.get(server)
      if (one === undefined) return
      roomy.add(one)
      // Players were never sent to one that was refused, or cancelled before.
      if (match.readyAt < Infinity) one.place.demand.played(clock.now() - match.readyAt)
      lookWhetherIdle(one)
      const definition = states.get(server.pool ?? '')?.definition
      if (definition === undefined || hasServedAll(one, definition)) take(one, 'retired')
    },
    /** A server takes no match any more. */
    draining: (server: Server) => {
      const one = stock.get(server)
      if (one === undefined) return
      one.isDraining = true
      lookWhetherIdle(one)
    },
    /** Whether a server is of a pool, and nobody plays on it or is to. */
    isEmpty: (server: Server) => {
      const one = stock.get(server)
      return one !== undefined && isEmpty(one)
    },
    /** Whether a server is kept at the place of its pool that is nearest to these coordinates. */
    isNear: (server: Server, near: Coordinates | undefined) => {
      const place = stock.get(server)?.place
      return place !== undefined && place === placeOf(server.pool ?? '', near)
    },
    /** Name of the place at which a server is kept; undefined for one of no pool. */
    placeNameOf: (server: Server) => stock.get(server)?.place.name,
    gone: (server: Server) => {
      const one = stock.get(server)
      if (one === undefined) return
      endIdleness(one, clock.now())
      forget(one)
      isLookPressing = true
    },

    /** Matches that the warm servers of a pool could take now. */
    freePlaces: (pool: string) => {
      const definition = states.get(pool)?.definition
      if (definition === undefined) return 0
      let places = 0
      for (const one of roomy) if (one.server.pool === pool) places += placesOn(one, definition) ?? 0
      return places
    },

    /** Whether no servers of a pool are kept warm now; undefined if there is no such pool. */
    isPaused: (pool: string) => (states.has(pool) ? paused.has(pool) : undefined),
    /** Keeps none warm, and drains idle ones, or keeps them again. A pause ends with its pool. */
    setPaused: (pool: string, isPaused: boolean) => {
      if (isPaused) paused.add(pool)
      else paused.delete(pool)
      isLookPressing = true
    },
    /** The pools are others now. Servers of a changed version or source are drained once new ones are warm. */
    reconfigure: (pools: readonly Pool[]) => {
      const names = new Set(pools.map(({ name }) => name))
      for (const name of states.keys())
        if (!names.has(name)) {
          states.delete(name)
          paused.delete(name)
        }
      for (const pool of pools) define(pool)
      isLookPressing = true
    },

    /** Orders what is missing, and drains what is too much. Called once the store was read. */
    advance: (now: number) => {
      if (now - lookedAt < (isLookPressing ? LOOK_SOON_MS : LOOK_MS)) return
      lookedAt = now
      isLookPressing = false
      // Read before the first order: afterwards that waits for its create.
      const rooms = new Map(Array.from(states.values(), ({ definition: { source } }) => [source, room(source)]))
      let ordered = 0
      for (const { definition, places } of states.values()) {
        const goals = goalsFor(definition, places, now)
        const byPlace = byPlaceOf(definition.name)
        stockLeft = undefined
        const before = Math.max(0, (rooms.get(definition.source) ?? 0) - ordered)
        roomLeft = before
        for (const place of places)
          keep(definition, place, { all: byPlace.get(place) ?? [], goal: goals.get(place) ?? 0, now })
        if (before < Infinity) ordered += before - roomLeft
      }
      for (const [name, left] of byPool) if (!states.has(name)) for (const one of left) take(one, 'update')
    },

    views: (now: number): readonly PoolPlaceView[] =>
      [...states.values()].flatMap(({ definition, places }) => {
        const goals = goalsFor(definition, places, now)
        const byPlace = byPlaceOf(definition.name)
        return places.map((place): PoolPlaceView => {
          const here = byPlace.get(place) ?? []
          const rate = place.demand.rate(now)
          const wanted = goals.get(place) ?? 0
          const idle = here.filter(isIdle)
          const paid = idle.filter(({ server, idleSince }) => !isEnrolled(server) && idleSince < now)
          return {
            pool: definition.name,
            place: place.name,
            paused: paused.has(definition.name),
            wanted,
            starting: here.filter((one) => !one.isUp && !one.isDraining).length,
            idle: idle.length,
            playing: here.filter((one) => one.isUp && !one.isDraining && !isEmpty(one)).length,
            draining: here.filter((one) => one.isDraining).length,
            asked: place.asked,
            hits: place.hits,
            expectedHit: rate > 0 ? 1 - lossShare(wanted, rate * place.demand.bootSeconds()) : undefined,
            ratePerHour: rate * 3600,
            cameLastHour: place.demand.lastHour(now),
            bootSeconds: place.demand.bootSeconds(),
            idleHours: (place.idleMs + paid.reduce((sum, { idleSince }) => sum + now - idleSince, 0)) / 3_600_000,
          }
        })
      }),
  }
}

const NONE: ReadonlySet<Stock> = new Set()
const NO_GOALS: ReadonlyMap<Place, number> = new Map()
