import type { PolicyRecord, VersionRecord } from '../records.js'
import { createContainers } from './containers.js'
import type { DeploymentDeps } from './deployment-deps.js'
import type { DeploymentRecord } from './deployment-record.js'
import { createDeploymentWebhooks } from './deployment-webhooks.js'
import type { Deployments, Order } from './deployments.js'
import { createFleetKeeper } from './fleet-keeper.js'
import { createImageCache } from './image-cache.js'
import { createDeploymentSimulator } from './deployment-simulator.js'
import { placesFor } from './placement.js'
import { policyPlaces } from './policy-places.js'
import { isProblem } from './problem.js'
import { createRecordMaker } from './record-maker.js'
import { createSessionKeeper } from './session-keeper.js'
import { replaceSessions } from './sessions.js'
import { createSites } from './sites.js'
import { statusView } from './views.js'

export function createDeployments(deps: DeploymentDeps): Deployments {
  const { clock, timers, speed, launch, settings } = deps
  const records = new Map<string, DeploymentRecord>()
  /** Terminated deployments, the earliest ended first. */
  const ended = new Map<DeploymentRecord, number>()

  const sites = createSites({ capacity: deps.capacity, processPorts: launch && settings.processPorts })
  const cache = createImageCache(clock.now, settings.forceCacheMs / speed)
  const view = (record: DeploymentRecord) => statusView(record, clock.now())
  const webhooks = createDeploymentWebhooks(deps.webhooks, timers, view)
  const containers = launch && createContainers(launch, speed)

  const onStatus = (record: DeploymentRecord) => {
    const { life, site } = record
    if (life.status === 'READY' && site !== undefined) cache.add(record.image, site.place)
    if (life.status === 'TERMINATED') {
      if (site !== undefined) sites.give(site)
      ended.set(record, clock.now())
    }
    sessions.noticed(record)
    webhooks.changed(record)
    fleets.noticed(record)
  }
  const simulator = createDeploymentSimulator({ clock, timers, speed, containers, onStatus })
  const makeRecord = createRecordMaker({ ...deps, sites, cache, isTaken: (id) => records.has(id) })

  const create = (order: Order) => {
    const record = makeRecord(order)
    records.set(record.id, record)
    webhooks.created(record)
    simulator.begin(record)
    return record
  }

  /** The place with the fewest deployments of the policy, unless the policy is for one place. */
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
    sessions.noticed(record)
    fleets.noticed(record)
  }
  const sessions = createSessionKeeper({
    timers,
    stop: (record) => void simulator.stop(record),
    onEnd: sessionsChanged,
  })

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
    create,
    get: find,
    all,
    stop: simulator.stop,
    view,
    readyCalled: webhooks.readyCalled,
    reconcileFleets: fleets.reconcile,
    placesWithCapacity: (version) => placesFor(version, sites),
    list: () => all().map(view),
    environment: (requestId) => find(requestId)?.environment,
    setSessions: (requestId, wanted) => {
      const record = find(requestId)
      if (record === undefined) throw new RangeError(`there is no deployment ${JSON.stringify(requestId)}`)
      replaceSessions(record, wanted)
      sessionsChanged(record)
    },
    close: async () => containers?.close(),
  }
}
