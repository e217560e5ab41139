import type { EndpointStorage, PullProfile } from '@muster/core/api'
import { dropUndefined } from '../option-values.js'
import { createNamed, type PullProfileRecord, type StorageRecord } from '../records.js'
import { datesOf } from '../timestamps.js'
import { fail, type HandlersOf, masked, noContent, ok, paged } from './handler.js'
import { findPullProfile, findStorage, findVersion, isFailure, unlinked, ifFound } from './lookup.js'

/** A storage as shown: without the secret access key, which is write-only. */
const storageView = (storage: StorageRecord): EndpointStorage => ({
  name: storage.name,
  container_log_version: storage.container_log_version,
  access_key_id: storage.access_key_id,
  endpoint: storage.endpoint,
  bucket: storage.bucket,
  output_format: storage.output_format,
  ...datesOf(storage),
})

/** A name conflict is answered by 400, because the document declares no 409 here. */
const storageTaken = (name: string) =>
  fail(400, `name: there is already an endpoint storage named ${JSON.stringify(name)}`)

export const storages: HandlersOf<'storages'> = {
  create: ({ container_log_version = 'v1', output_format = 'TEXT', ...fields }, { world }) => {
    const now = world.clock.now()
    const pullProfiles = createNamed<PullProfileRecord>()
    const storage = { ...fields, container_log_version, output_format, pullProfiles, createdAt: now, updatedAt: now }
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

/** A name conflict is answered by 400, because the document declares no 409 here. */
const profileTaken = (name: string) => fail(400, `name: there is already a pull profile named ${JSON.stringify(name)}`)

export const pullProfiles: HandlersOf<'pullProfiles'> = {
  create: ({ endpoint_name, ...fields }, { world }) =>
    ifFound(findStorage(world, endpoint_name), (storage) => {
      const now = world.clock.now()
      const profile: PullProfileRecord = { ...fields, links: new Map(), createdAt: now, updatedAt: now }
      return storage.pullProfiles.add(profile) ? ok(profileView(profile)) : profileTaken(fields.name)
    }),

  get: (input, { world }) => ifFound(findPullProfile(world, input), (profile) => ok(profileView(profile))),

  update: ({ endpoint_name, pull_profile_name, name, ...changes }, { world }) => {
    const storage = findStorage(world, endpoint_name)
    if (isFailure(storage)) return storage
    const profile = findPullProfile(world, { endpoint_name, pull_profile_name })
    if (isFailure(profile)) return profile
    if (name !== undefined && !storage.pullProfiles.rename(profile, name)) return profileTaken(name)
    Object.assign(profile, dropUndefined(changes), { updatedAt: world.clock.now() })
    return ok(profileView(profile))
  },

  delete: ({ endpoint_name, pull_profile_name }, { world }) => {
    const storage = findStorage(world, endpoint_name)
    if (isFailure(storage)) return storage
    const profile = findPullProfile(world, { endpoint_name, pull_profile_name })
    if (isFailure(profile)) return profile
    storage.pullProfiles.delete(profile)
    return noContent()
  },

  list: ({ endpoint_name, ...wanted }, { world }) =>
    ifFound(findStorage(world, endpoint_name), (storage) => {
      const { items, total, pagination } = paged(storage.pullProfiles.values(), wanted, world.pageSizes)
      return ok({ pull_profiles: items.map(profileView), total_count: total, pagination })
    }),

  link: (input, { world }) => {
    const profile = findPullProfile(world, input)
    if (isFailure(profile)) return profile
    const version = findVersion(world, input)
    if (isFailure(version)) return version
    const now = world.clock.now()
    const link = profile.links.get(version) ?? { createdAt: now, updatedAt: now }
    profile.links.set(version, link)
    return ok({
      app: version.app.name,
      app_version: version.name,
      endpoint: input.endpoint_name,
      pull_profile: profile.name,
      ...datesOf(link),
    })
  },

  unlink: (input, { world }) => {
    const profile = findPullProfile(world, input)
    if (isFailure(profile)) return profile
    const version = findVersion(world, input)
    if (isFailure(version)) return version
    return profile.links.delete(version)
      ? noContent()
      : unlinked(version, `pull profile ${JSON.stringify(profile.name)}`)
  },
}
