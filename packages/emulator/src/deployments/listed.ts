// pure: a deployment as the list shows it
import type { DeploymentListEntry } from '@muster/core/api'
import type { QueryFields, ReadField } from './deployment-query.js'
import { socketsOf, usedSockets, type DeploymentRecord } from './deployment-record.js'
import type { StatusName } from './lifecycle.js'
import { statusView, tagsOf } from './views.js'

/** A deployment and its status in the list, which may lag behind. */
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
