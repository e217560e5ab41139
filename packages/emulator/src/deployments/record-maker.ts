import { createNamed } from '../named.js'
import type { VersionRecord } from '../records.js'
import type { DeploymentDeps } from './deployment-deps.js'
import type { DeploymentRecord, TagRecord } from './deployment-record.js'
import type { Order } from './deployments.js'
import { environmentOf, hiddenNames } from './environment.js'
import { hex } from './hex.js'
import { imageOf, type ImageCache } from './image-cache.js'
import { fail, newborn } from './lifecycle.js'
import { choosePlace } from './placement.js'
import { drawPlan } from './plan.js'
import type { Site, Sites } from './sites.js'

export interface RecordMakerDeps extends Pick<DeploymentDeps, 'clock' | 'random' | 'deployTimes' | 'url'> {
  readonly sites: Sites
  readonly cache: ImageCache
  /** Whether another deployment has this request_id. */
  readonly isTaken: (id: string) => boolean
}

export const NO_SERVER = "Couldn't Allocate Server"

/**
 * Creates the maker of deployment records, which decides everything about a new deployment: id, place, ports, variables
 * and durations.
 */
export function createRecordMaker(deps: RecordMakerDeps): (order: Order) => DeploymentRecord {
  const { clock, random, deployTimes, url, sites, cache, isTaken } = deps

  const freeId = () => {
    let id = hex(12, random)
    while (isTaken(id)) id = hex(12, random)
    return id
  }

  const allocate = (order: Order, id: string): Site | undefined => {
    if (order.fault === 'no capacity') return undefined
    const { version, users, allows = () => true, cachedOnly = false } = order
    const place = choosePlace({ version, users, allows, cachedOnly }, sites, cache)
    return place && sites.take(place, id, version.ports)
  }

  return (order) => {
    const { version, tags = [], fault, skipTelemetry = false, webhookFault } = order
    const id = freeId()
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
      environment: environmentOf(variables, {
        requestId: id,
        deleteUrl: `${url()}/v1/self/stop/${id}/${accessPointId}`,
        deleteToken,
        tags,
        site,
      }),
      hiddenVariables: hiddenNames(variables),
      deleteToken,
      accessPointId,
      command: order.command ?? version.command,
      arguments: order.arguments ?? version.arguments,
      webhooks: order.webhooks ?? {},
      webhookFault,
      policy: order.policy,
      tags: tagRecords(tags, now),
      sessions: new Map(),
      graceMs: graceOf(version),
      // A deployment that never started has nothing to terminate.
      plan: site === undefined ? { ...plan, terminatingMs: 0 } : plan,
      life: site === undefined ? fail(newborn, 0, NO_SERVER) : newborn,
      history: [],
      container: undefined,
      crash: undefined,
    }
  }
}

const graceOf = (version: VersionRecord) => version.termination_grace_period_seconds * 1000

/** Makes the tag records; a name given twice is one tag. */
function tagRecords(names: readonly string[], now: number) {
  const tags = createNamed<TagRecord>()
  for (const name of names) tags.add({ name, createdAt: now, updatedAt: now })
  return tags
}
