// pure: the views of a deployment: its status, and its entry in the list
import type { Deployment, DeploymentListEntry, DeploymentPort } from '@muster/core/api'
import { formatA } from '../timestamps.js'
import type { QueryFields, ReadField } from './deployment-query.js'
import { type DeploymentRecord, hasBeen, socketsOf, timeOf, usedSockets } from './deployment-record.js'
import type { StatusName } from './lifecycle.js'

const shown = (status: StatusName) => `Status.${status}` as const

/** Returns the ports of a deployment. As in the service, they are empty until the container is being started. */
function portsOf(record: DeploymentRecord): Readonly<Record<string, DeploymentPort>> {
  const { site } = record
  if (site === undefined || !hasBeen(record, 'DEPLOYING')) return {}
  return Object.fromEntries(
    site.ports.map(({ name, internal, external, protocol, tlsUpgrade }) => [
      name,
      {
        name,
        internal,
        external,
        protocol,
        tls_upgrade: tlsUpgrade,
        link: `${site.fqdn}:${external}`,
        proxy: external,
      },
    ]),
  )
}

export const tagsOf = (record: DeploymentRecord) => record.tags.values().map(({ name }) => name)

/** Returns the status view (service-api, Deployment) at the time `now`. */
export function statusView(record: DeploymentRecord, now: number): Deployment {
  const { life, site, version } = record
  const removedAt = timeOf(record, 'TERMINATED')
  const sockets = socketsOf(record)
  return {
    request_id: record.id,
    fqdn: site?.fqdn ?? null,
    app_name: version.app.name,
    app_version: version.name,
    current_status: shown(life.status),
    last_status: life.lastStatus === undefined ? null : shown(life.lastStatus),
    running: life.status === 'READY',
    whitelisting_active: false,
    start_time: formatA(record.createdAt),
    removal_time: removedAt === undefined ? null : formatA(removedAt),
    elapsed_time: Math.floor(((removedAt ?? now) - record.createdAt) / 1000),
    error: life.error !== undefined,
    error_detail: life.error ?? null,
    ports: portsOf(record),
    public_ip: site !== undefined && hasBeen(record, 'DEPLOYING') ? site.publicIp : null,
    sessions: Array.from(record.sessions, ([session_id, { kind, users }]) => ({
      session_id,
      status: 'Status.READY',
      ready: true,
      linked: true,
      kind,
      user_count: String(users),
    })),
    location: site !== undefined && hasBeen(record, 'SEEKED') ? site.place.location : null,
    tags: tagsOf(record),
    sockets: sockets === undefined ? null : String(sockets),
    sockets_usage: sockets === undefined ? null : String(usedSockets(record)),
    command: record.command,
    arguments: record.arguments,
    max_duration: record.maxDuration,
  }
}

/** A deployment, and its status as the list shows it, which may be outdated. */
export interface Listed {
  readonly record: DeploymentRecord
  readonly status: StatusName
}

const availableSockets = (record: DeploymentRecord) => Math.max(0, (socketsOf(record) ?? 0) - usedSockets(record))

const readers: { readonly [Field in keyof QueryFields]: (listed: Listed) => QueryFields[Field] } = {
  status: ({ status }) => status.toLowerCase(),
  request_id: ({ record }) => record.id,
  tags: ({ record }) => tagsOf(record),
  created_at: ({ record }) => record.createdAt,
  application: ({ record }) => record.version.app.name,
  version: ({ record }) => record.version.name,
  is_joinable_by_session: ({ record, status }) => status === 'READY' && availableSockets(record) > 0,
  available_session_sockets: ({ record }) => availableSockets(record),
}

export const readListed: ReadField<Listed> = (listed, field) => readers[field](listed)

export function listEntry(listed: Listed): DeploymentListEntry {
  const { record, status } = listed
  const view = statusView(record, record.createdAt)
  return {
    request_id: record.id,
    fqdn: view.fqdn,
    start_time: view.start_time,
    ready: status === 'READY',
    public_ip: view.public_ip,
    ports: view.ports,
    tags: view.tags,
    sockets: view.sockets,
    sockets_usage: view.sockets_usage,
    is_joinable_by_session: readers.is_joinable_by_session(listed),
  }
}
