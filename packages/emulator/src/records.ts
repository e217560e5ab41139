import type { Filter } from '@muster/core/api'
import type { SessionConfig, VersionChanges, VersionPort, VersionVariable } from '@muster/core/internal'
import type { Random } from '@muster/core/clock'

export type NamedRecords<Item extends { name: string }> = ReturnType<typeof createNamed<Item>>

/** Creates a list of records with unique names, in insertion order. Renaming a record does not change the order. */
export function createNamed<Item extends { name: string }>() {
  let items = new Map<string, Item>()
  return {
    get: (name: string) => items.get(name),
    has: (name: string) => items.has(name),
    /** Adds a record. Returns false, with no change, if the name is taken. */
    add: (item: Item) => {
      if (items.has(item.name)) return false
      items.set(item.name, item)
      return true
    },
    /** Renames a record. Returns false, with no change, if another record has the new name. */
    rename: (item: Item, name: string) => {
      if (name === item.name) return true
      if (items.has(name)) return false
      item.name = name
      // The map is rebuilt to keep the order, because a map puts a new key last.
      items = new Map(Array.from(items.values(), (each) => [each.name, each]))
      return true
    },
    delete: (item: Item) => void items.delete(item.name),
    values: () => [...items.values()],
  }
}

/**
 * The state of the emulated service. Records refer to one another by reference instead of by name, so that renaming
 * keeps every link. Fields with an underscore are the specification's, in its units; times are epoch milliseconds.
 */

interface Dated {
  createdAt: number
  updatedAt: number
}

/** The dates of a record that is created at `now`. */
export const newAt = (now: number): Dated => ({ createdAt: now, updatedAt: now })

/** Links a version to a fleet, unless it is linked already. Returns the link's dates. */
export function linkTo({ links }: Pick<FleetRecord, 'links'>, version: VersionRecord, now: number): Dated {
  const link = links.get(version) ?? newAt(now)
  links.set(version, link)
  return link
}

export interface ApplicationRecord extends Dated {
  name: string
  is_active: boolean
  is_telemetry_agent_active: boolean
  image: string
  /** The versions of the application, the newest last. */
  readonly versions: NamedRecords<VersionRecord>
}

export interface VersionRecord extends Dated {
  readonly app: ApplicationRecord
  name: string
  is_active: boolean
  docker_repository: string
  docker_image: string
  docker_tag: string
  private_username: string | undefined
  /** The registry's token. A secret. */
  private_token: string | undefined
  /** Required processor capacity; 1024 means 1 vCPU. */
  readonly req_cpu: number
  /** Required memory in MB. */
  readonly req_memory: number
  /** Required graphics capacity; 1024 means 1 GPU. */
  readonly req_video: number
  /**
   * Minutes after which a deployment is stopped; -1 for no automatic stop (our reading of a value that is accepted but
   * not documented).
   */
  max_duration: number
  force_cache: boolean
  /** Maximum seconds until a deployment is READY. */
  time_to_deploy: number
  session_config: SessionConfig | undefined
  ports: readonly VersionPort[]
  /** The variables. Values with `is_secret` are secrets. */
  envs: readonly VersionVariable[]
  /** Set only if the request stated it, because the specification does not have this field. */
  restart_policy?: VersionChanges['restart_policy']
  verify_image: boolean
  /** Seconds between SIGTERM and SIGKILL. */
  termination_grace_period_seconds: number
  /** The storage for logs. It becomes undefined when the storage is deleted. */
  endpoint_storage: StorageRecord | undefined
  command: string | null
  arguments: string | null
  dns_config: string | undefined
  will_deploy_in_mainland_china: boolean
}

export interface StorageRecord extends Dated {
  name: string
  container_log_version: 'v1' | 'v2'
  access_key_id: string
  /** The secret access key. No response contains it. */
  secret_access_key: string
  endpoint: string
  bucket: string
  output_format: 'TEXT' | 'NDJSON'
  readonly pullProfiles: NamedRecords<PullProfileRecord>
}

export interface PullProfileRecord extends Dated {
  readonly storage: StorageRecord
  name: string
  source: string
  source_type: 'File' | 'Folder'
  destination: string
  readonly links: Map<VersionRecord, Dated>
}

export interface FleetRecord extends Dated {
  name: string
  enabled: boolean
  readonly policies: NamedRecords<PolicyRecord>
  readonly links: Map<VersionRecord, Dated>
}

export interface PolicyRecord extends Dated {
  readonly fleet: FleetRecord
  name: string
  enabled: boolean
  type: string
  minimum: number
  maximum: number
  /** Share of used sockets, from 0.1 to 1, from which on another deployment is added. */
  threshold: number
  filters: readonly Filter[]
}

/** A tagged image in the service's own registry. */
export interface ImageRecord {
  name: string
  readonly tags: Map<string, ImageTagRecord>
}

export interface ImageTagRecord {
  /** Hash of the content. Tags with the same hash are one artifact. */
  readonly hash: string
  readonly sizeMb: number
  readonly pushedAt: number
}

/** Returns a random id of 12 hexadecimal digits that is not taken. */
export function freeId(isTaken: (id: string) => boolean, random: Random): string {
  let id = hex(12, random)
  while (isTaken(id)) id = hex(12, random)
  return id
}

/** Returns a random id or token with the given number of hexadecimal digits. */
export const hex = (digits: number, random: Random): string =>
  Array.from({ length: digits }, () => Math.floor(random() * 16).toString(16)).join('')
