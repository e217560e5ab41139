import type { EndpointStorage, PullProfile } from '@muster/core/api'
import { dropUndefined } from '../option-values.js'
import { createNamed, linkTo, newAt, type PullProfileRecord, type StorageRecord } from '../records.js'
import { datesOf } from '../timestamps.js'
import { type HandlersOf, masked, noContent, ok, paged } from './handler.js'
import { findPullProfile, findStorage, findVersion, nameTaken, unlinked, ifFound } from './lookup.js'

/** Returns the view of a storage without its secret access key, which can only be written. */
const storageView = (storage: StorageRecord): EndpointStorage => ({
  name: storage.name,
  container_log_version: storage.container_log_version,
  access_key_id: storage.access_key_id,
  endpoint: storage.endpoint,
  bucket: storage.bucket,
  output_format: storage.output_format,
  ...datesOf(storage),
})

const storageTaken = (name: string) => nameTaken('an endpoint storage', name)

export const storages: HandlersOf<'storages'> = {
  create: ({ container_log_version = 'v1', output_format = 'TEXT', ...fields }, { world }) => {
    const own = { container_log_version, output_format, pullProfiles: createNamed<PullProfileRecord>() }
    const storage = { ...fields, ...own, ...newAt(world.clock.now()) }
    return world.storages.add(storage) ? ok(storageView(storage)) : storageTaken(fields.name)
  },

  get: ({ endpoint_name }, { world }) =>
    ifFound(findStorage(world, endpoint_name), (storage) => ok(storageView(storage))),

  update: ({ endpoint_name, name, ...changes }, { world }) =>
    ifFound(findStorage(world, endpoint_name), (storage) => {
      if (name !== undefined && !world.storages.rename(storage, name)) return storageTaken(name)
      Object.assign(storage, dropUndefined(changes), { updatedAt: world.clock.now() })
      return ok(storageView(storage))
    }),

  delete: ({ endpoint_name }, { world }) =>
    ifFound(findStorage(world, endpoint_name), (storage) => {
      world.storages.delete(storage)
      for (const app of world.applications.values()) {
        for (const version of app.versions.values()) {
          if (version.endpoint_storage === storage) version.endpoint_storage = undefined
        }
      }
      return noContent()
    }),

  list: ({ x_fields, ...wanted }, { world }) => {
    const { items, pagination } = paged(world.storages.values(), wanted, world.pageSizes)
    return masked({ endpoints: items.map(storageView), pagination }, x_fields)
  },
}

const profileView = (profile: PullProfileRecord): PullProfile => ({
  name: profile.name,
  source: profile.source,
  source_type: profile.source_type,
  destination: profile.destination,
  ...datesOf(profile),
})

const profileTaken = (name: string) => nameTaken('a pull profile', name)

export const pullProfiles: HandlersOf<'pullProfiles'> = {
  create: ({ endpoint_name, ...fields }, { world }) =>
    ifFound(findStorage(world, endpoint_name), (storage) => {
      const profile: PullProfileRecord = { ...fields, storage, links: new Map(), ...newAt(world.clock.now()) }
      return storage.pullProfiles.add(profile) ? ok(profileView(profile)) : profileTaken(fields.name)
    }),

  get: (input, { world }) => ifFound(findPullProfile(world, input), (profile) => ok(profileView(profile))),

  update: ({ endpoint_name, pull_profile_name, name, ...changes }, { world }) =>
    ifFound(findPullProfile(world, { endpoint_name, pull_profile_name }), (profile) => {
      if (name !== undefined && !profile.storage.pullProfiles.rename(profile, name)) return profileTaken(name)
      Object.assign(profile, dropUndefined(changes), { updatedAt: world.clock.now() })
      return ok(profileView(profile))
    }),

  delete: (input, { world }) =>
    ifFound(findPullProfile(world, input), (profile) => {
      profile.storage.pullProfiles.delete(profile)
      return noContent()
    }),

  list: ({ endpoint_name, ...wanted }, { world }) =>
    ifFound(findStorage(world, endpoint_name), (storage) => {
      const { items, total, pagination } = paged(storage.pullProfiles.values(), wanted, world.pageSizes)
      return ok({ pull_profiles: items.map(profileView), total_count: total, pagination })
    }),

  link: (input, { world }) =>
    ifFound(findPullProfile(world, input), (profile) =>
      ifFound(findVersion(world, input), (version) =>
        ok({
          app: version.app.name,
          app_version: version.name,
          endpoint: profile.storage.name,
          pull_profile: profile.name,
          ...datesOf(linkTo(profile, version, world.clock.now())),
        }),
      ),
    ),

  unlink: (input, { world }) =>
    ifFound(findPullProfile(world, input), (profile) =>
      ifFound(findVersion(world, input), (version) =>
        profile.links.delete(version) ? noContent() : unlinked(version, `pull profile ${JSON.stringify(profile.name)}`),
      ),
    ),
}
