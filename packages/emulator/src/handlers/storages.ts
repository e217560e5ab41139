import type { EndpointStorage } from '@muster/core/api'
import { dropUndefined } from '../drop-undefined.js'
import { createNamed } from '../named.js'
import { paged } from '../pages.js'
import type { PullProfileRecord, StorageRecord } from '../records.js'
import { formatA } from '../timestamps.js'
import { fail, noContent, ok, type HandlersOf } from './handler.js'
import { findStorage, isFailure } from './lookup.js'
import { masked } from './masked.js'

/** A storage as shown: without the secret access key, which is write-only. */
const view = (storage: StorageRecord): EndpointStorage => ({
  name: storage.name,
  container_log_version: storage.container_log_version,
  access_key_id: storage.access_key_id,
  endpoint: storage.endpoint,
  bucket: storage.bucket,
  output_format: storage.output_format,
  create_time: formatA(storage.createdAt),
  last_updated: formatA(storage.updatedAt),
})

/** A name conflict is answered by 400, because the document declares no 409 here. */
const taken = (name: string) => fail(400, `name: there is already an endpoint storage named ${JSON.stringify(name)}`)

export const storages: HandlersOf<'storages'> = {
  create: ({ container_log_version = 'v1', output_format = 'TEXT', ...fields }, { world }) => {
    const now = world.clock.now()
    const pullProfiles = createNamed<PullProfileRecord>()
    const storage = { ...fields, container_log_version, output_format, pullProfiles, createdAt: now, updatedAt: now }
    return world.storages.add(storage) ? ok(view(storage)) : taken(fields.name)
  },

  get: ({ endpoint_name }, { world }) => {
    const storage = findStorage(world, endpoint_name)
    return isFailure(storage) ? storage : ok(view(storage))
  },

  update: ({ endpoint_name, name, ...changes }, { world }) => {
    const storage = findStorage(world, endpoint_name)
    if (isFailure(storage)) return storage
    if (name !== undefined && !world.storages.rename(storage, name)) return taken(name)
    Object.assign(storage, dropUndefined(changes), { updatedAt: world.clock.now() })
    return ok(view(storage))
  },

  delete: ({ endpoint_name }, { world }) => {
    const storage = findStorage(world, endpoint_name)
    if (isFailure(storage)) return storage
    world.storages.delete(storage)
    for (const app of world.applications.values()) {
      for (const version of app.versions.values()) {
        if (version.endpoint_storage === storage) version.endpoint_storage = undefined
      }
    }
    return noContent()
  },

  list: ({ x_fields, ...wanted }, { world }) => {
    const { items, pagination } = paged(world.storages.values(), wanted, world.pageSizes)
    return masked({ endpoints: items.map(view), pagination }, x_fields)
  },
}
