import type { Deployment, EnvironmentVariable } from '@muster/core/api'
import type { Place } from '../places.js'
import {
  createNamed,
  type FleetRecord,
  freeId,
  hex,
  type NamedRecords,
  newAt,
  type PolicyRecord,
  type VersionRecord,
} from '../records.js'
import type { DeploymentSettings } from '../settings.js'
import type { Surroundings } from '../timers.js'
import type { DeploymentRecord, TagRecord, WebhookTargets } from './deployment-record.js'
import { createContainers, createDeploymentSimulator } from './deployment-simulator.js'
import { statusView } from './deployment-views.js'
import { environmentOf, hiddenNames } from './environment.js'
import { isProblem, policyPlaces } from './filters.js'
import { createFleetKeeper } from './fleet-keeper.js'
import type { Launch } from './launch-process.js'
import { type DeploymentFault, type DeployTimes, drawPlan, fail, newborn, type StatusName } from './lifecycle.js'
import {
  choosePlace,
  createImageCache,
  createSites,
  type ImageCache,
  imageOf,
  placesFor,
  type Site,
  type Sites,
  type PlacementRequest,
} from './placement.js'
import { createSessionKeeper, replaceSessions } from './session-keeper.js'
import { sendDespite, type WebhookFault, type Webhooks } from './webhooks.js'

/** An order for a deployment, from any of the operations or from a fleet. */
interface DeploymentOrder extends PlacementRequest {
  /** Variables in addition to the version's. They take precedence over variables of the same key. */
  readonly variables?: readonly EnvironmentVariable[] | undefined
  readonly tags?: readonly string[] | undefined
  readonly webhooks?: WebhookTargets | undefined
  /** True skips the status SCANNING. Default false. */
  readonly skipTelemetry?: boolean | undefined
  /** Replaces the version's command, unless null. */
  readonly command?: string | null | undefined
  /** Replaces the version's arguments, unless null. */
  readonly arguments?: string | null | undefined
  /** The fleet policy that requests the deployment. */
  readonly policy?: PolicyRecord | undefined
  readonly fault?: DeploymentFault | undefined
  readonly webhookFault?: WebhookFault | undefined
}

export type Deployments = ReturnType<typeof createDeployments>

/** What the emulated deployments depend on. */
interface DeploymentDeps extends Surroundings {
  /**
   * Returns the emulator's URL without a trailing slash, for the injected delete URL. The URL is known only once the
   * emulator listens.
   */
  readonly url: () => string
  /** Prefix of the injected variables' names. Default `SERVICE`. */
  readonly prefix?: string | undefined
  /** The fleets, whose policies require deployments. */
  readonly fleets: NamedRecords<FleetRecord>
  /** Maximum number of deployments at one location at a time. */
  readonly capacity: (placeId: string) => number
  readonly deployTimes: DeployTimes
  readonly settings: DeploymentSettings
  /** Runs containers; undefined if deployments are only simulated. */
  readonly launch: Launch | undefined
  readonly webhooks: Webhooks
}

const events: Readonly<Partial<Record<StatusName, keyof WebhookTargets>>> = {
  READY: 'ready',
  ERROR: 'error',
  TERMINATED: 'terminated',
}

/** Returns a forged webhook body: what an attacker who knows the URL could post to send players to another server. */
const forged = (view: Deployment): Deployment => ({
  ...view,
  current_status: 'Status.READY',
  last_status: 'Status.DEPLOYING',
  running: true,
  fqdn: 'forged.emulator.invalid',
  public_ip: '203.0.113.254',
  ports: {
    game: {
      name: 'game',
      external: 31_337,
      internal: 7777,
      protocol: 'UDP',
      tls_upgrade: false,
      link: 'forged.emulator.invalid:31337',
      proxy: 31_337,
    },
  },
})

export const NO_SERVER = "Couldn't Allocate Server"

/**
 * Creates the factory of deployment records, which decides everything about a new deployment: id, location, ports,
 * variables and durations.
 * @param isTaken returns true if another deployment has this request_id.
 */
function createRecordMaker(
  { clock, random, deployTimes, url, prefix }: DeploymentDeps,
  sites: Sites,
  cache: ImageCache,
  isTaken: (id: string) => boolean,
): (order: DeploymentOrder) => DeploymentRecord {
  const allocate = (order: DeploymentOrder, id: string): Site | undefined => {
    if (order.fault === 'no capacity') return undefined
    const place = choosePlace(order, sites, cache)
    return place && sites.take(place, id, order.version.ports)
  }

  return (order) => {
    const { version, tags = [], fault, skipTelemetry = false, webhookFault } = order
    const id = freeId(isTaken, random)
    const accessPointId = String(Math.floor(random() * 1e6))
    const deleteToken = hex(32, random)
    const site = allocate(order, id)
    const cached = site !== undefined && cache.has(version, site.place)
    const plan = drawPlan(
      version,
      { cached, skipTelemetry, fault, immediate: webhookFault === 'early' },
      deployTimes,
      random,
    )
    const variables = [...version.envs, ...(order.variables ?? [])]
    const now = Math.round(clock.now() * 1000) / 1000
    return {
      id,
      version,
      image: imageOf(version),
      maxDuration: version.max_duration,
      sessionConfig: version.session_config,
      createdAt: now,
      site,
      environment: environmentOf(
        variables,
        {
          requestId: id,
          deleteUrl: `${url()}/v1/self/stop/${id}/${accessPointId}`,
          deleteToken,
          tags,
          site,
        },
        prefix,
      ),
      hiddenVariables: hiddenNames(variables, prefix),
      deleteToken,
      accessPointId,
      command: order.command ?? version.command,
      arguments: order.arguments ?? version.arguments,
      webhooks: order.webhooks ?? {},
      webhookFault,
      policy: order.policy,
      tags: tagRecords(tags, now),
      sessions: new Map(),
      graceMs: version.termination_grace_period_seconds * 1000,
      // A deployment that never started has no container, so its termination takes no time.
      plan: site === undefined ? { ...plan, terminatingMs: 0 } : plan,
      life: site === undefined ? fail(newborn, 0, NO_SERVER) : newborn,
      history: [],
      container: undefined,
      crash: undefined,
    }
  }
}

/** Creates the tag records. A name that occurs twice is one tag. */
function tagRecords(names: readonly string[], now: number) {
  const tags = createNamed<TagRecord>()
  for (const name of names) tags.add({ name, ...newAt(now) })
  return tags
}

/**
 * Creates the part of the service that deploys. It holds the state of `api.deployments`, of `api.tags` and of the
 * fleets' deployments.
 */
export function createDeployments(deps: DeploymentDeps) {
  const { clock, timers, speed, launch, settings, webhooks } = deps
  const records = new Map<string, DeploymentRecord>()
  /** Terminated deployments with the time of their end, the oldest end first. */
  const ended = new Map<DeploymentRecord, number>()

  const sites = createSites({ capacity: deps.capacity, processPorts: launch && settings.processPorts })
  const cache = createImageCache(clock.now, settings.forceCacheMs / speed)
  const view = (record: DeploymentRecord) => statusView(record, clock.now())
  /** The started calls of each deployment's ready webhook. */
  const readyCalls = new WeakMap<DeploymentRecord, Promise<void>>()
  const containers = launch && createContainers(launch, speed)

  const onStatus = (record: DeploymentRecord) => {
    const { life, site } = record
    if (life.status === 'READY' && site !== undefined) cache.add(record.image, site.place)
    if (life.status === 'TERMINATED') {
      if (site !== undefined) sites.give(site)
      ended.set(record, clock.now())
    }
    sessionsNoticed(record)
    callWebhook(record)
    fleets.noticed(record)
  }
  /** Posts the deployment's current status to its webhook (public fact). */
  const callWebhook = (record: DeploymentRecord) => {
    const event = events[record.life.status]
    const url = event && record.webhooks[event]
    if (url === undefined) return
    const calls = sendDespite(record.webhookFault, webhooks, timers, url, view(record))
    if (event === 'ready') readyCalls.set(record, calls)
  }
  const simulator = createDeploymentSimulator({ clock, timers, speed, containers, onStatus })
  const makeRecord = createRecordMaker(deps, sites, cache, (id) => records.has(id))

  const create = (order: DeploymentOrder) => {
    const record = makeRecord(order)
    records.set(record.id, record)
    const { ready } = record.webhooks
    if (record.webhookFault === 'forged' && ready !== undefined) void webhooks.send(ready, forged(view(record)))
    simulator.begin(record)
    return record
  }

  /**
   * Deploys for a policy. Chooses the location with the fewest deployments of the policy, unless the policy is for one
   * location.
   */
  const deployFor = (version: VersionRecord, policy: PolicyRecord, crew: readonly DeploymentRecord[]) => {
    const wanted = policyPlaces(policy)
    if (isProblem(wanted)) return undefined
    const candidates = placesFor(version, sites).filter(wanted.allows)
    const crewAt = (id: string) => crew.filter(({ site }) => site?.place.id === id).length
    const fewest = Math.min(...candidates.map(({ id }) => crewAt(id)))
    const chosen = new Set(
      wanted.near === undefined ? candidates.filter(({ id }) => crewAt(id) === fewest) : candidates,
    )
    if (chosen.size === 0) return undefined
    return create({ version, policy, users: wanted.near ? [wanted.near] : [], allows: (place) => chosen.has(place) })
  }

  const fleets = createFleetKeeper({
    fleets: deps.fleets,
    timers,
    checkMs: settings.fleetCheckMs,
    deploy: deployFor,
    stop: (record) => void simulator.stop(record),
  })

  const sessionsChanged = (record: DeploymentRecord) => {
    sessionsNoticed(record)
    fleets.noticed(record)
  }
  const sessionsNoticed = createSessionKeeper(timers, (record) => void simulator.stop(record), sessionsChanged)

  const forgetTheLongEnded = () => {
    for (const [record, at] of ended) {
      if ((clock.now() - at) * speed <= settings.retentionMs) return
      ended.delete(record)
      records.delete(record.id)
    }
  }

  const find = (requestId: string) => {
    forgetTheLongEnded()
    return records.get(requestId)
  }

  const all = () => {
    forgetTheLongEnded()
    return [...records.values()]
  }

  return {
    /**
     * Creates a deployment, even if no server can be allocated. The deployment then has no site, and is in ERROR until
     * it is stopped (public fact).
     */
    create,
    /**
     * Returns the deployment's record; undefined for an unknown id, and once `retentionMs` have passed since its end.
     */
    get: find,
    /** Returns all deployments that the service remembers, the oldest first. */
    all,
    stop: simulator.stop,
    /** Returns the current view of the deployment. */
    view,
    /** Resolves once the started calls of the deployment's ready webhook are over. */
    readyCalled: (record: DeploymentRecord) => readyCalls.get(record) ?? Promise.resolve(),
    /**
     * Deploys what the fleets require. Call this after each change of fleets, policies, links, applications and
     * versions.
     */
    reconcileFleets: fleets.reconcile,
    /** Returns the locations where the version could be deployed now. */
    placesWithCapacity: (version: VersionRecord): readonly Place[] => placesFor(version, sites),
    list: (): readonly Deployment[] => all().map(view),
    /** Returns the environment of a deployment's container, secrets included. For tests; not available over HTTP. */
    environment: (requestId: string) => find(requestId)?.environment,
    /**
     * Replaces a deployment's sessions, for tests. `wanted` is the number of users by session id.
     * @throws RangeError for an unknown deployment, a version without sessions, and more users than sockets.
     */
    setSessions: (requestId: string, wanted: Readonly<Record<string, number>>) => {
      const record = find(requestId)
      if (record === undefined) throw new RangeError(`there is no deployment ${JSON.stringify(requestId)}`)
      replaceSessions(record, wanted)
      sessionsChanged(record)
    },
    /** Stops all deployments and containers. */
    close: async () => containers?.close(),
  }
}
