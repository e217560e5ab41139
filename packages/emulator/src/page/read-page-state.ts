import { sum } from '@muster/console/internal'
import { containerLogs, type DeploymentRecord, tagsOf, type StatusName } from '../deployments/index.js'
import type { Faults } from '../faults.js'
import { places } from '../places.js'
import { formatB } from '../timestamps.js'
import type { World } from '../world.js'
import { shownVariables, withoutSecrets } from './mask-secrets.js'
import { type PhaseCounts, phaseOf, searchFor } from './page-state.js'

const LATEST = 50

/** The sources of the page's data. */
export interface PageSource {
  readonly world: World
  readonly faults: Faults
  /** The account's API token. */
  readonly token: string
  /** True if the token is the default, which is not a secret. */
  readonly isTokenKnown: boolean
}

export type PageState = ReturnType<typeof readPageState>
export type PageDeployment = ReturnType<typeof pageDeployment>
export type PageLocation = PageState['locations'][number]

/**
 * Returns the data of the page, which is also the response of /_emulator/state. Everybody who can reach the port can
 * read it, so it has no secrets and no players' addresses. Fields that come from the specification have its names.
 * Times are those of the emulator's clock, in ISO 8601 and UTC.
 */
export function readPageState({ world, faults, token, isTokenKnown }: PageSource, search: string) {
  const now = world.clock.now()
  const all = world.deployments.all()
  const current = all.filter(({ life }) => phaseOf(life.status) !== 'ended')
  const { found, latest } = searched(all, search, now)
  return {
    now: formatB(now),
    speed: world.speed,
    /**
     * How a client connects to the emulator. The API token is null unless it is the default, which is publicly known.
     */
    connect: { baseUrl: world.url(), token: isTokenKnown ? token : null },
    deployments: {
      phases: phasesOf(current),
      /** Number of deployments for which no server could be allocated. */
      withoutLocation: current.filter(({ site }) => site === undefined).length,
      /** Counts of all deployments that the service remembers. */
      byStatus: Object.fromEntries(tally(all, ({ life }) => life.status)) as Partial<Record<StatusName, number>>,
      search,
      /** The number of deployments that the search found, and the latest of them, the newest first. */
      found,
      latest,
    },
    locations: pageLocations(current, world.capacity),
    applications: pageApplications(world, current),
    fleets: pageFleets(world, current),
    faults: faults.counts(),
    relaySessions: relayTotals(world),
    counters: world.counters,
  }
}

function searched(all: readonly DeploymentRecord[], search: string, now: number) {
  const newestFirst = all.toReversed()
  if (search === '')
    return { found: all.length, latest: newestFirst.slice(0, LATEST).map((record) => pageDeployment(record, now)) }
  const isMeant = searchFor(search)
  const found = newestFirst.map((record) => pageDeployment(record, now)).filter(isMeant)
  return { found: found.length, latest: found.slice(0, LATEST) }
}

function pageDeployment(record: DeploymentRecord, now: number) {
  const sinceMs = (at: number) => Math.max(0, Math.round(now - at))
  return {
    request_id: record.id,
    application: record.version.app.name,
    version: record.version.name,
    status: record.life.status,
    error: record.life.error === undefined ? null : ownWords(record.life.error),
    /**
     * The city of the deployment. It is known from the start, unlike in the service's responses. Null if no server
     * could be allocated.
     */
    location: record.site?.place.location.city ?? null,
    tags: tagsOf(record),
    createdAt: formatB(record.createdAt),
    /** Milliseconds since the deployment was requested, and since the current status began. */
    ageMs: sinceMs(record.createdAt),
    inStatusMs: sinceMs(record.history.at(-1)?.at ?? record.createdAt),
  }
}

/**
 * Returns the part of an error before the colon, which is the emulator's own text. The rest comes from the launcher,
 * and might quote variables.
 */
const ownWords = (error: string) => error.replace(/:.*/s, '')

function tally<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, number> {
  const counts = new Map<Key, number>()
  for (const item of items) {
    const key = keyOf(item)
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return counts
}

function groups<Key>(records: readonly DeploymentRecord[], keyOf: (record: DeploymentRecord) => Key) {
  const byKey = new Map<Key, DeploymentRecord[]>()
  for (const record of records) {
    const group = byKey.get(keyOf(record)) ?? []
    byKey.set(keyOf(record), group)
    group.push(record)
  }
  return (key: Key): readonly DeploymentRecord[] => byKey.get(key) ?? []
}

function phasesOf(records: readonly DeploymentRecord[]): PhaseCounts {
  const counts = tally(records, ({ life }) => phaseOf(life.status))
  const count = (phase: keyof PhaseCounts) => counts.get(phase) ?? 0
  return { ready: count('ready'), starting: count('starting'), error: count('error'), stopping: count('stopping') }
}

function pageLocations(current: readonly DeploymentRecord[], capacityOf: World['capacity']) {
  const at = groups(current, ({ site }) => site?.place.id)
  return places.map(({ id, location: { city, country, continent, latitude, longitude } }) => {
    const capacity = capacityOf(id)
    return {
      id,
      city,
      country,
      continent,
      latitude,
      longitude,
      ...phasesOf(at(id)),
      deployments: at(id).length,
      /** Maximum number of deployments at this location at a time; null for no limit. */
      capacity: capacity === Infinity ? null : capacity,
    }
  })
}

function pageApplications({ applications }: World, current: readonly DeploymentRecord[]) {
  const of = groups(current, ({ version }) => version)
  return applications.values().map((application) => ({
    name: application.name,
    active: application.is_active,
    versions: application.versions.values().map((version) => {
      return { name: version.name, active: version.is_active, phases: phasesOf(of(version)) }
    }),
  }))
}

function pageFleets({ fleets }: World, current: readonly DeploymentRecord[]) {
  const of = groups(current, ({ policy }) => policy)
  return fleets.values().map((fleet) => ({
    name: fleet.name,
    enabled: fleet.enabled,
    /** The linked versions, each as `application version`. */
    versions: Array.from(fleet.links.keys(), (version) => `${version.app.name} ${version.name}`),
    policies: fleet.policies.values().map((policy) => {
      const { name, enabled, minimum, maximum } = policy
      return { name, enabled, minimum, maximum, phases: phasesOf(of(policy)) }
    }),
  }))
}

function relayTotals({ relays }: World) {
  const sessions = relays.list()
  return {
    sessions: sessions.length,
    ready: sessions.filter(({ ready }) => ready).length,
    users: sum(sessions.map(({ users }) => users)),
    connected: sum(sessions.map(({ connected }) => connected)),
  }
}

export type DeploymentDetail = ReturnType<typeof deploymentDetail>

const LINES = 200

/** Returns the data of one deployment's page, without secrets and players' addresses. */
export function deploymentDetail(record: DeploymentRecord, now: number) {
  const { environment, hiddenVariables, life, history, policy, crash, site } = record
  const masked = (text: string) => withoutSecrets(text, environment, hiddenVariables)
  const lines = masked(containerLogs(record, now).logs ?? '').split('\n')
  return {
    ...pageDeployment(record, now),
    now: formatB(now),
    /** Why the deployment failed, if known. Secrets in the launcher's messages are masked. */
    failure: life.error === undefined ? null : masked(life.error),
    /** The exit code of a container that ended by itself; otherwise null. */
    exitCode: crash?.exitCode ?? null,
    /** True if a stop was requested and has not begun. */
    stopRequested: life.stopRequested && life.status !== 'TERMINATING' && life.status !== 'TERMINATED',
    policy: policy?.name ?? null,
    /**
     * The statuses that were reached, the oldest first. Durations are milliseconds; undefined for the current status.
     */
    steps: history.map(({ status, at }, index) => {
      const next = history[index + 1]
      return { status, at: formatB(at), lastedMs: next && Math.round(next.at - at) }
    }),
    ports: (site?.ports ?? []).map(({ tlsUpgrade: _tlsUpgrade, ...port }) => port),
    variables: shownVariables(environment, hiddenVariables),
    log: lines.slice(-LINES).join('\n'),
  }
}
