import { sum } from '@muster/console/internal'
import { containerLogs, type DeploymentRecord, tagsOf, type StatusName } from '../deployments/index.js'
import type { Faults } from '../faults.js'
import { places } from '../places.js'
import type { FleetRecord, VersionRecord } from '../records.js'
import { formatB } from '../timestamps.js'
import type { World } from '../world.js'
import { type ShownVariable, shownVariables, withoutSecrets } from './mask-secrets.js'
import {
  type PageApplication,
  type PageDeployment,
  type PageFleet,
  type PageLocation,
  type PageState,
  type PhaseCounts,
  phaseOf,
  type RelayTotals,
  searchFor,
} from './page-state.js'

const LATEST = 50

/** The sources of the page's data. */
export interface PageSource {
  readonly world: World
  readonly faults: Faults
  /** The account's API token. */
  readonly token: string
  /** Whether the token is the default, which is not a secret. */
  readonly isTokenKnown: boolean
}

export function readPageState({ world, faults, token, isTokenKnown }: PageSource, search: string): PageState {
  const now = world.clock.now()
  const all = world.deployments.all()
  const current = all.filter(({ life }) => phaseOf(life.status) !== 'ended')
  const { found, latest } = searched(all, search, now)
  return {
    now: formatB(now),
    speed: world.speed,
    connect: { baseUrl: world.url(), token: isTokenKnown ? token : null },
    deployments: {
      phases: phasesOf(current),
      withoutLocation: current.filter(({ site }) => site === undefined).length,
      byStatus: Object.fromEntries(tally(all, ({ life }) => life.status)),
      search,
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

/**
 * The part of an error up to the colon, which is the emulator's own text; the rest is the launcher's and might quote
 * variables.
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

const NONE: readonly DeploymentRecord[] = []

function groups<Key>(records: readonly DeploymentRecord[], keyOf: (record: DeploymentRecord) => Key) {
  const byKey = new Map<Key, DeploymentRecord[]>()
  for (const record of records) {
    const group = byKey.get(keyOf(record))
    if (group === undefined) byKey.set(keyOf(record), [record])
    else group.push(record)
  }
  return (key: Key) => byKey.get(key) ?? NONE
}

function phasesOf(records: readonly DeploymentRecord[]): PhaseCounts {
  const counts = tally(records, ({ life }) => phaseOf(life.status))
  const count = (phase: keyof PhaseCounts) => counts.get(phase) ?? 0
  return { ready: count('ready'), starting: count('starting'), error: count('error'), stopping: count('stopping') }
}

function pageLocations(current: readonly DeploymentRecord[], capacityOf: World['capacity']): readonly PageLocation[] {
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
      capacity: capacity === Infinity ? null : capacity,
    }
  })
}

function pageApplications({ applications }: World, current: readonly DeploymentRecord[]): readonly PageApplication[] {
  const of = groups(current, ({ version }) => version)
  return applications.values().map((application) => ({
    name: application.name,
    active: application.is_active,
    versions: application.versions.values().map((version) => ({
      name: version.name,
      active: version.is_active,
      phases: phasesOf(of(version)),
    })),
  }))
}

function pageFleets({ fleets }: World, current: readonly DeploymentRecord[]): readonly PageFleet[] {
  const of = groups(current, ({ policy }) => policy)
  return fleets.values().map((fleet) => ({
    name: fleet.name,
    enabled: fleet.enabled,
    versions: linkedTo(fleet).map((version) => `${version.app.name} ${version.name}`),
    policies: fleet.policies.values().map((policy) => ({
      name: policy.name,
      enabled: policy.enabled,
      minimum: policy.minimum,
      maximum: policy.maximum,
      phases: phasesOf(of(policy)),
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

/** The data of one deployment's page: no secrets, and no players' addresses. */
export interface DeploymentDetail extends PageDeployment {
  readonly now: string
  /** Why the deployment failed, as far as known; secrets in the launcher's messages are masked. */
  readonly failure: string | null
  /** The exit code of a container that ended by itself. */
  readonly exitCode: number | null
  /** Whether a stop was requested that has not begun. */
  readonly stopRequested: boolean
  /** The fleet policy that requested the deployment. */
  readonly policy: string | null
  /** The statuses reached, the oldest first. Durations are milliseconds; undefined for the present status. */
  readonly steps: readonly { readonly status: StatusName; readonly at: string; readonly lastedMs: number | undefined }[]
  readonly ports: readonly {
    readonly name: string
    readonly internal: number
    readonly external: number
    readonly protocol: string
  }[]
  readonly variables: readonly ShownVariable[]
  /** The last lines of the container's output. */
  readonly log: string
}

const LINES = 200

export function deploymentDetail(record: DeploymentRecord, now: number): DeploymentDetail {
  const { environment, hiddenVariables, life, history, policy, crash, site } = record
  const masked = (text: string) => withoutSecrets(text, environment, hiddenVariables)
  const lines = masked(containerLogs(record, now).logs ?? '').split('\n')
  return {
    ...pageDeployment(record, now),
    now: formatB(now),
    failure: life.error === undefined ? null : masked(life.error),
    exitCode: crash?.exitCode ?? null,
    stopRequested: life.stopRequested && life.status !== 'TERMINATING' && life.status !== 'TERMINATED',
    policy: policy?.name ?? null,
    steps: history.map(({ status, at }, index) => {
      const next = history[index + 1]
      return { status, at: formatB(at), lastedMs: next && Math.round(next.at - at) }
    }),
    ports: (site?.ports ?? []).map(({ name, internal, external, protocol }) => ({
      name,
      internal,
      external,
      protocol,
    })),
    variables: shownVariables(environment, hiddenVariables),
    log: lines.slice(-LINES).join('\n'),
  }
}
