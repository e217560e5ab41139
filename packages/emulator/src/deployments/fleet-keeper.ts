import { createSets } from '@muster/core/internal'
import type { FleetRecord, NamedRecords, PolicyRecord, VersionRecord } from '../records.js'
import type { Timers } from '../timers.js'
import { socketsOf, usedSockets, type DeploymentRecord } from './deployment-record.js'
import { isStarting } from './lifecycle.js'

interface FleetKeeperDeps {
  readonly fleets: NamedRecords<FleetRecord>
  readonly timers: Timers
  /** Milliseconds of simulated time after which a deployment that ended or could not be created is replaced. */
  readonly checkMs: number
  /**
   * Deploys a version for a policy. Returns undefined if the locations that the policy allows are full.
   * @param crew the policy's running deployments of this version.
   */
  readonly deploy: (
    version: VersionRecord,
    policy: PolicyRecord,
    crew: readonly DeploymentRecord[],
  ) => DeploymentRecord | undefined
  readonly stop: (record: DeploymentRecord) => void
}

/**
 * Creates the loop that maintains the size of fleets. Each enabled policy of an enabled fleet has at least `minimum`
 * deployments of each active linked version. While sessions use `threshold` of their sockets or more, another
 * deployment is added, up to `maximum`. Deployments in ERROR are stopped and replaced. If the demand falls (unlinked,
 * disabled, a lower number), no deployment is stopped, because players may be on it.
 */
export function createFleetKeeper({ fleets, timers, checkMs, deploy, stop }: FleetKeeperDeps) {
  const crews = createSets<PolicyRecord, DeploymentRecord>()
  let checking = false

  const crewOf = (policy: PolicyRecord, version: VersionRecord) =>
    [...crews.of(policy)].filter((record) => record.version === version && counts(record))

  const keep = (policy: PolicyRecord, version: VersionRecord) => {
    let crew = crewOf(policy, version)
    while (crew.length < demanded(policy, crew)) {
      const record = deploy(version, policy, crew)
      if (record === undefined) return checkSoon()
      if (record.life.status !== 'TERMINATED') crews.add(policy, record)
      // A deployment that has failed immediately counts too. It is replaced at the next check, because replacing it
      // here could loop forever.
      crew = [...crew, record]
    }
  }

  const reconcile = () => {
    for (const fleet of fleets.values()) {
      if (!fleet.enabled) continue
      for (const version of fleet.links.keys()) {
        if (!version.is_active || !version.app.is_active) continue
        for (const policy of fleet.policies.values()) if (policy.enabled) keep(policy, version)
      }
    }
  }

  const checkSoon = () => {
    if (checking) return
    checking = true
    timers.after(checkMs, () => {
      checking = false
      reconcile()
    })
  }

  return {
    /** Deploys what the fleets lack. */
    reconcile,
    /** Call this after a deployment has reached another status, or its sessions have changed. */
    noticed: (record: DeploymentRecord) => {
      const { policy } = record
      if (policy === undefined) return
      if (record.life.status === 'TERMINATED') crews.delete(policy, record)
      if (record.life.status === 'ERROR') stop(record)
      checkSoon()
    },
  }
}

/**
 * Returns true if the deployment counts towards the policy's demand: it runs or will run, and no stop was requested.
 */
const counts = ({ life }: DeploymentRecord) =>
  (isStarting(life.status) || life.status === 'READY') && !life.stopRequested

function demanded({ minimum, maximum, threshold }: PolicyRecord, crew: readonly DeploymentRecord[]): number {
  const full =
    crew.length > 0 && crew.every((record) => usedSockets(record) >= threshold * (socketsOf(record) ?? Infinity))
  return Math.min(maximum, Math.max(minimum, full ? crew.length + 1 : 0))
}
