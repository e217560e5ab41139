import type { PullProfile } from '@muster/core/api'
import { dropUndefined } from '../drop-undefined.js'
import { paged } from '../pages.js'
import type { PullProfileRecord } from '../records.js'
import { formatA } from '../timestamps.js'
import { fail, noContent, ok, type HandlersOf } from './handler.js'
import { findPullProfile, findStorage, findVersion, isFailure, unlinked } from './lookup.js'

const view = (profile: PullProfileRecord): PullProfile => ({
  name: profile.name,
  source: profile.source,
  source_type: profile.source_type,
  destination: profile.destination,
  create_time: formatA(profile.createdAt),
  last_updated: formatA(profile.updatedAt),
})

/** A name conflict is answered by 400, because the document declares no 409 here. */
const taken = (name: string) => fail(400, `name: there is already a pull profile named ${JSON.stringify(name)}`)

export const pullProfiles: HandlersOf<'pullProfiles'> = {
  create: ({ endpoint_name, ...fields }, { world }) => {
    const storage = findStorage(world, endpoint_name)
    if (isFailure(storage)) return storage
    const now = world.clock.now()
    const profile: PullProfileRecord = { ...fields, links: new Map(), createdAt: now, updatedAt: now }
    return storage.pullProfiles.add(profile) ? ok(view(profile)) : taken(fields.name)
  },

  get: (input, { world }) => {
    const profile = findPullProfile(world, input)
    return isFailure(profile) ? profile : ok(view(profile))
  },

  update: ({ endpoint_name, pull_profile_name, name, ...changes }, { world }) => {
    const storage = findStorage(world, endpoint_name)
    if (isFailure(storage)) return storage
    const profile = findPullProfile(world, { endpoint_name, pull_profile_name })
    if (isFailure(profile)) return profile
    if (name !== undefined && !storage.pullProfiles.rename(profile, name)) return taken(name)
    Object.assign(profile, dropUndefined(changes), { updatedAt: world.clock.now() })
    return ok(view(profile))
  },

  delete: ({ endpoint_name, pull_profile_name }, { world }) => {
    const storage = findStorage(world, endpoint_name)
    if (isFailure(storage)) return storage
    const profile = findPullProfile(world, { endpoint_name, pull_profile_name })
    if (isFailure(profile)) return profile
    storage.pullProfiles.delete(profile)
    return noContent()
  },

  list: ({ endpoint_name, ...wanted }, { world }) => {
    const storage = findStorage(world, endpoint_name)
    if (isFailure(storage)) return storage
    const { items, total, pagination } = paged(storage.pullProfiles.values(), wanted, world.pageSizes)
    return ok({ pull_profiles: items.map(view), total_count: total, pagination })
  },

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
      create_time: formatA(link.createdAt),
      last_updated: formatA(link.updatedAt),
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
