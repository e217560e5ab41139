import type { Counters } from '../counters.js'
import type { DeploymentRecord } from '../deployments/deployment-record.js'
import type { StatusName } from '../deployments/lifecycle.js'
import { tagsOf } from '../deployments/views.js'
import type { Fault } from '../faults/fault.js'
import type { Faults } from '../faults/faults.js'
import { places } from '../places.js'
import type { FleetRecord, VersionRecord } from '../records.js'
import { formatB } from '../timestamps.js'
import type { World } from '../world.js'
import { phaseOf, type PagePhase } from './page-phase.js'

/**
 * What the page shows, and what is answered at /_emulator/state. Whoever can reach the port can read it: no secrets, no addresses.
 * Fields that the document has bear its names; instants are the emulator's clock's, in format B.
 */
export interface PageState {
  readonly now: string
  readonly speed: number
  readonly deployments: {
    /** Those that have not ended. */
    readonly running: number
    /** Of those, the ones for which no server could be allocated; they are at no location. */
    readonly withoutLocation: number
    /** All that the service remembers. */
    readonly byStatus: Readonly<Partial<Record<StatusName, number>>>
    /** The newest first. */
    readonly latest: readonly PageDeployment[]
  }
  /** All places, the empty ones too. */
  readonly locations: readonly PageLocation[]
  readonly applications: readonly PageApplication[]
  readonly fleets: readonly PageFleet[]
  readonly faults: readonly Fault[]
  readonly relaySessions: RelayTotals
  readonly counters: Counters
}

export interface PageDeployment {
  readonly request_id: string
  readonly application: string
  readonly version: string
  readonly status: StatusName
  readonly error: string | null
  /** A city; known here from the first moment on, unlike in the service's answers. Null where no server could be allocated. */
  readonly location: string | null
  readonly tags: readonly string[]
  readonly createdAt: string
  /** Milliseconds since it was asked for. */
  readonly ageMs: number
  /** Milliseconds since it came to its status. */
  readonly inStatusMs: number
}

/** Deployments that have not ended, by what they are doing. */
export type PhaseCounts = Readonly<Record<PagePhase, number>>

export interface PageLocation extends PhaseCounts {
  readonly id: string
  readonly city: string
  readonly country: string
  /** Degrees. */
  readonly latitude: number
  /** Degrees. */
  readonly longitude: number
  /** Sum of the four. */
  readonly running: number
  /** Null for any number. */
  readonly capacity: number | null
}

export interface PageApplication {
  readonly name: string
  readonly active: boolean
  readonly versions: readonly { readonly name: string; readonly active: boolean; readonly running: number }[]
}

export interface PageFleet {
  readonly name: string
  readonly enabled: boolean
  /** `application version`. */
  readonly versions: readonly string[]
  readonly policies: readonly {
    readonly name: string
    readonly enabled: boolean
    readonly minimum: number
    readonly maximum: number
    readonly running: number
  }[]
}

export interface RelayTotals {
  readonly sessions: number
  readonly ready: number
  readonly users: number
  /** Users whose packets have been coming in. */
  readonly connected: number
}

const LATEST = 50

export function pageState(world: World, faults: Faults): PageState {
  const now = world.clock.now()
  const all = world.deployments.all()
  const running = all.filter(({ life }) => phaseOf(life.status) !== 'ended')
  return {
    now: formatB(now),
    speed: world.speed,
    deployments: {
      running: running.length,
      withoutLocation: running.filter(({ site }) => site === undefined).length,
      byStatus: Object.fromEntries(tally(all, ({ life }) => life.status)),
      latest: all.slice(-LATEST).toReversed().map((record) => pageDeployment(record, now)),
    },
    locations: pageLocations(running, world.capacity),
    applications: pageApplications(world, running),
    fleets: pageFleets(world, running),
    faults: faults.list(),
    relaySessions: relayTotals(world),
    counters: world.counters,
  }
}

function tally<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, number> {
  const counts = new Map<Key, number>()
  for (const item of items) {
    const key = keyOf(item)
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return counts
}

function pageDeployment(record: DeploymentRecord, now: number): PageDeployment {
  return {
    request_id: record.id,
    application: record.version.app.name,
    version: record.version.name,
    status: record.life.status,
    error: record.life.error ?? null,
    location: record.site?.place.location.city ?? null,
    tags: tagsOf(record),
    createdAt: formatB(record.createdAt),
    ageMs: Math.max(0, now - record.createdAt),
    inStatusMs: Math.max(0, now - (record.history.at(-1)?.at ?? record.createdAt)),
  }
}

function pageLocations(running: readonly DeploymentRecord[], capacityOf: World['capacity']): readonly PageLocation[] {
  const counts = tally(running, ({ site, life }) => `${site?.place.id} ${phaseOf(life.status)}`)
  return places.map(({ id, location: { city, country, latitude, longitude } }) => {
    const count = (phase: PagePhase) => counts.get(`${id} ${phase}`) ?? 0
    const byPhase = { starting: count('starting'), ready: count('ready'), error: count('error'), stopping: count('stopping') }
    const capacity = capacityOf(id)
    return {
      id,
      city,
      country,
      latitude,
      longitude,
      ...byPhase,
      running: byPhase.starting + byPhase.ready + byPhase.error + byPhase.stopping,
      capacity: capacity === Infinity ? null : capacity,
    }
  })
}

function pageApplications({ applications }: World, running: readonly DeploymentRecord[]): readonly PageApplication[] {
  const counts = tally(running, ({ version }) => version)
  return applications.values().map((application) => ({
    name: application.name,
    active: application.is_active,
    versions: application.versions.values().map((version) => ({
      name: version.name,
      active: version.is_active,
      running: counts.get(version) ?? 0,
    })),
  }))
}

function pageFleets({ fleets }: World, running: readonly DeploymentRecord[]): readonly PageFleet[] {
  const counts = tally(running, ({ policy }) => policy)
  return fleets.values().map((fleet) => ({
    name: fleet.name,
    enabled: fleet.enabled,
    versions: linkedTo(fleet).map((version) => `${version.app.name} ${version.name}`),
    policies: fleet.policies.values().map((policy) => ({
      name: policy.name,
      enabled: policy.enabled,
      minimum: policy.minimum,
      maximum: policy.maximum,
      running: counts.get(policy) ?? 0,
    })),
  }))
}

const linkedTo = ({ links }: FleetRecord): readonly VersionRecord[] => [...links.keys()]

function relayTotals({ relays }: World): RelayTotals {
  const sessions = relays.list()
  return {
    sessions: sessions.length,
    ready: sessions.filter(({ ready }) => ready).length,
    users: sessions.reduce((sum, { users }) => sum + users, 0),
    connected: sessions.reduce((sum, { connected }) => sum + connected, 0),
  }
}
