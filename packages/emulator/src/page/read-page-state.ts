import type { DeploymentRecord } from '../deployments/deployment-record.js'
import { tagsOf } from '../deployments/views.js'
import type { Faults } from '../faults/faults.js'
import { places } from '../places.js'
import type { FleetRecord, VersionRecord } from '../records.js'
import { formatB } from '../timestamps.js'
import type { World } from '../world.js'
import { phaseOf, type PagePhase } from './page-phase.js'
import type { PageApplication, PageDeployment, PageFleet, PageLocation, PageState, RelayTotals } from './page-state.js'
import { sum } from './words.js'

const LATEST = 50

export function readPageState(world: World, faults: Faults): PageState {
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
      latest: all
        .slice(-LATEST)
        .toReversed()
        .map((record) => pageDeployment(record, now)),
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
  const sinceMs = (at: number) => Math.max(0, Math.round(now - at))
  return {
    request_id: record.id,
    application: record.version.app.name,
    version: record.version.name,
    status: record.life.status,
    error: record.life.error === undefined ? null : ownWords(record.life.error),
    location: record.site?.place.location.city ?? null,
    tags: tagsOf(record),
    createdAt: formatB(record.createdAt),
    ageMs: sinceMs(record.createdAt),
    inStatusMs: sinceMs(record.history.at(-1)?.at ?? record.createdAt),
  }
}

/** Up to the colon it is ours; what follows was said by whatever runs the containers, and might quote their variables. */
const ownWords = (error: string) => error.replace(/:.*/s, '')

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
    users: sum(sessions.map(({ users }) => users)),
    connected: sum(sessions.map(({ connected }) => connected)),
  }
}
