import type { OperationId } from '../api/api.js'

/** The tables of the specification's 'Endpoints', which group the operations for readers. Pure. */
export interface Group {
  readonly name: string
  readonly description: string
  /** Whether its error bodies are documented: `{message: string}`, with message required (service-api, Errors). */
  readonly errorsShown?: true
  readonly deprecated?: true
}

const applications = { name: 'Applications', description: 'Applications and their versions.' }
const registry = { name: 'Container registry', description: 'Tags of images.' }
const logStorage = {
  name: 'Log storage',
  description: 'Buckets that receive container logs, and pull profiles that copy data from them into containers.',
  errorsShown: true,
} as const
const locations = {
  name: 'Locations and beacons',
  description: 'Where deployments can run, and hosts to ping there.',
  errorsShown: true,
} as const
const deployments = { name: 'Deployments', description: 'Servers: created, followed, stopped and looked into.' }
const legacy = { name: 'Legacy deploy', description: 'Replaced by POST /deployments.', deprecated: true } as const
const fleets = { name: 'Fleets', description: 'Fleets that create deployments by themselves, as their policies say.' }
const tags = { name: 'Deployment tags', description: 'Tags of deployments.' }
const relays = { name: 'Relay sessions', description: 'Sessions in which a relay passes traffic between users.' }

const byResource: Readonly<Record<string, Group>> = {
  applications,
  versions: applications,
  registry,
  storages: logStorage,
  pullProfiles: logStorage,
  locations,
  deployments,
  fleets,
  policies: fleets,
  tags,
  relays,
}

/** The groups in the order of the specification. */
export const groups: readonly Group[] = [
  applications,
  registry,
  logStorage,
  locations,
  deployments,
  legacy,
  fleets,
  tags,
  relays,
]

export function groupOf(id: OperationId): Group {
  return id === 'deployments.deployLegacy' ? legacy : (byResource[id.split('.')[0] as string] as Group)
}
