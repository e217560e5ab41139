import type { Named } from '../named.js'
import type { FleetRecord, PolicyRecord, VersionRecord } from '../records.js'
import type { Timers } from '../timers.js'
import { socketsOf, usedSockets, type DeploymentRecord } from './deployment-record.js'
import { isStarting } from './lifecycle.js'

/** Keeps as many deployments running as the fleets demand. */
export interface FleetKeeper {
  /** Deploys what is missing, now. */
  reconcile(): void
  /** A deployment has come to another status, or its sessions have changed. */
  noticed(record: DeploymentRecord): void
}

export interface FleetKeeperDeps {
  readonly fleets: Named<FleetRecord>
  readonly timers: Timers
  /** Milliseconds of the service's time before something that has ended, or could not be deployed, is tried anew. */
  readonly checkMs: number
  /**
   * Undefined when there is no room where the policy wants it. @param crew what the policy has running already, of this
   * version.
   */
  readonly deploy: (
    version: VersionRecord,
    policy: PolicyRecord,
    crew: readonly DeploymentRecord[],
  ) => DeploymentRecord | undefined
  readonly stop: (record: DeploymentRecord) => void
}

/**
 * For each enabled fleet, each of its enabled policies and each linked version that is active: at least
 * `minimum` deployments, and while the sessions on all of them fill `threshold` of their sockets or
 * more, another one, up to `maximum`. What is in ERROR is stopped and replaced. Nothing is stopped
 * because it is no longer demanded (unlinked, disabled, a lower number): players may be on it.
 */
export function createFleetKeeper({ fleets, timers, checkMs, deploy, stop }: FleetKeeperDeps): FleetKeeper {
  const crews = new Map<PolicyRecord, Set<DeploymentRecord>>()
  let checking = false

  const crewOf = (policy: PolicyRecord, version: VersionRecord) =>
    [...(crews.get(policy) ?? [])].filter((record) => record.version === version && counts(record))

  const keep = (policy: PolicyRecord, version: VersionRecord) => {
    let crew = crewOf(policy, version)
    while (crew.length < demanded(policy, crew)) {
      const record = deploy(version, policy, crew)
      if (record === undefined) return checkSoon()
      if (record.life.status !== 'TERMINATED') crews.set(policy, (crews.get(policy) ?? new Set()).add(record))
      // Counted even if it has failed at once: it is replaced at the next check, not here and again and again.
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

  const forget = (record: DeploymentRecord, policy: PolicyRecord) => {
    const crew = crews.get(policy)
    crew?.delete(record)
    if (crew?.size === 0) crews.delete(policy)
  }

  return {
    reconcile,
    noticed: (record) => {
      const { policy } = record
      if (policy === undefined) return
      if (record.life.status === 'TERMINATED') forget(record, policy)
      if (record.life.status === 'ERROR') stop(record)
      checkSoon()
    },
  }
}

/** Whether the policy can count on it: it runs or will run, and nobody has stopped it. */
const counts = ({ life }: DeploymentRecord) =>
  (isStarting(life.status) || life.status === 'READY') && !life.stopRequested

function demanded({ minimum, maximum, threshold }: PolicyRecord, crew: readonly DeploymentRecord[]): number {
  const full =
    crew.length > 0 && crew.every((record) => usedSockets(record) >= threshold * (socketsOf(record) ?? Infinity))
  return Math.min(maximum, Math.max(minimum, full ? crew.length + 1 : 0))
}
