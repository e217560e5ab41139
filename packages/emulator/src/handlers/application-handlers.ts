import type { Application, Version } from '@muster/core/api'
import type { VersionChanges } from '@muster/core/internal'
import { dropUndefined } from '../option-values.js'
import {
  type ApplicationRecord,
  createNamed,
  type ImageRecord,
  type ImageTagRecord,
  newAt,
  type StorageRecord,
  type VersionRecord,
} from '../records.js'
import { datesOf, formatB } from '../timestamps.js'
import type { World } from '../world.js'
import { fail, type Failure, type HandlersOf, noContent, ok } from './handler.js'
import { findApplication, findStorage, findVersion, isFailure, nameTaken, unknown, ifFound } from './lookup.js'

/**
 * Returns the view of a version without its secrets: the registry's token, and the values of secret variables (our
 * choice).
 */
const versionView = (version: VersionRecord): Version => ({
  name: version.name,
  is_active: version.is_active,
  docker_repository: version.docker_repository,
  docker_image: version.docker_image,
  docker_tag: version.docker_tag,
  private_username: version.private_username,
  req_cpu: version.req_cpu,
  req_memory: version.req_memory,
  req_video: version.req_video,
  max_duration: version.max_duration,
  force_cache: version.force_cache,
  kind: 0,
  time_to_deploy: version.time_to_deploy,
  session_config: version.session_config,
  ports: version.ports,
  envs: version.envs.map(({ key, value, is_secret = false, is_hidden }) => ({
    key,
    ...(!is_secret && is_hidden !== true && { value }),
    is_secret,
    ...(is_hidden !== undefined && { is_hidden }),
  })),
  ...(version.restart_policy !== undefined && { restart_policy: version.restart_policy }),
  verify_image: version.verify_image,
  termination_grace_period_seconds: version.termination_grace_period_seconds,
  endpoint_storage: version.endpoint_storage?.name,
  command: version.command,
  arguments: version.arguments,
  dns_config: version.dns_config,
  will_deploy_in_mainland_china: version.will_deploy_in_mainland_china,
  create_time: formatB(version.createdAt),
  last_updated: formatB(version.updatedAt),
})

/** The defaults of a new version. Only that of max_duration is in the specification; the others are our choice. */
const versionDefaults = {
  is_active: true,
  private_username: undefined,
  private_token: undefined,
  req_video: 0,
  max_duration: 1440,
  force_cache: false,
  time_to_deploy: 120,
  session_config: undefined,
  ports: [],
  envs: [],
  verify_image: false,
  termination_grace_period_seconds: 5,
  command: null,
  arguments: null,
  dns_config: undefined,
  will_deploy_in_mainland_china: false,
} satisfies Partial<VersionRecord>

/** Returns the record of the storage that a request names; undefined if it names none. */
function storageOf(world: World, { endpoint_storage: name }: VersionChanges): StorageRecord | undefined | Failure<404> {
  return name === undefined ? undefined : findStorage(world, name)
}

function refusedImage(
  world: World,
  image: Pick<VersionRecord, 'verify_image' | 'docker_repository' | 'docker_image' | 'docker_tag'>,
) {
  if (!image.verify_image || world.canPull(image)) return undefined
  const { docker_repository, docker_image, docker_tag } = image
  return fail(424, `the image ${docker_repository}/${docker_image}:${docker_tag} cannot be pulled`)
}

/** Removes a version from its application and unlinks it everywhere. Its deployments keep running. */
function forgetVersion(world: World, version: VersionRecord): void {
  version.app.versions.delete(version)
  for (const fleet of world.fleets.values()) fleet.links.delete(version)
  for (const storage of world.storages.values()) {
    for (const profile of storage.pullProfiles.values()) profile.links.delete(version)
  }
}

export const versions: HandlersOf<'versions'> = {
  create: ({ app_name, name, endpoint_storage, ...specification }, { world }) => {
    const app = findApplication(world, app_name)
    if (isFailure(app)) return app
    const storage = storageOf(world, { endpoint_storage })
    if (isFailure(storage)) return storage
    if (app.versions.has(name)) {
      return fail(409, `there is already a version of ${JSON.stringify(app_name)} named ${JSON.stringify(name)}`)
    }
    const version: VersionRecord = {
      ...versionDefaults,
      ...dropUndefined(specification),
      app,
      name,
      endpoint_storage: storage,
      ...newAt(world.clock.now()),
    }
    const refused = refusedImage(world, version)
    if (refused !== undefined) return refused
    app.versions.add(version)
    return ok({ success: true, version: versionView(version) })
  },

  get: (input, { world }) => ifFound(findVersion(world, input), (version) => ok(versionView(version))),

  update: ({ app_name, version_name, name, endpoint_storage, ...changes }, { world }) => {
    const version = findVersion(world, { app_name, version_name })
    if (isFailure(version)) return version
    const storage = storageOf(world, { endpoint_storage })
    if (isFailure(storage)) return storage
    const refused = refusedImage(world, { ...version, ...dropUndefined(changes) })
    if (refused !== undefined) return refused
    if (name !== undefined && !version.app.versions.rename(version, name))
      return nameTaken(`a version of ${JSON.stringify(app_name)}`, name)
    Object.assign(version, dropUndefined({ ...changes, endpoint_storage: storage }), { updatedAt: world.clock.now() })
    world.deployments.reconcileFleets()
    return ok({ success: true, version: versionView(version) })
  },

  delete: (input, { world }) =>
    ifFound(findVersion(world, input), (version) => {
      forgetVersion(world, version)
      world.deployments.reconcileFleets()
      return ok({ success: true, message: `version ${JSON.stringify(version.name)} deleted` })
    }),

  list: ({ app_name }, { world }) =>
    ifFound(findApplication(world, app_name), (app) => {
      const all = app.versions.values()
      return ok({ versions: all.map(versionView), total_count: all.length })
    }),
}

const applicationView = (app: ApplicationRecord): Application => ({
  name: app.name,
  is_active: app.is_active,
  is_telemetry_agent_active: app.is_telemetry_agent_active,
  image: app.image,
  ...datesOf(app),
})

const applicationTaken = (name: string) => fail(409, `there is already an application named ${JSON.stringify(name)}`)

export const applications: HandlersOf<'applications'> = {
  create: ({ name, is_active = true, is_telemetry_agent_active = false, image = '' }, { world }) => {
    const app: ApplicationRecord = {
      name,
      is_active,
      is_telemetry_agent_active,
      image,
      versions: createNamed<VersionRecord>(),
      ...newAt(world.clock.now()),
    }
    return world.applications.add(app) ? ok(applicationView(app)) : applicationTaken(name)
  },

  update: ({ app_name, name, ...changes }, { world }) =>
    ifFound(findApplication(world, app_name), (app) => {
      if (name !== undefined && !world.applications.rename(app, name)) return applicationTaken(name)
      Object.assign(app, dropUndefined(changes), { updatedAt: world.clock.now() })
      world.deployments.reconcileFleets()
      return ok(applicationView(app))
    }),

  get: ({ app_name }, { world }) => ifFound(findApplication(world, app_name), (app) => ok(applicationView(app))),

  delete: ({ app_name }, { world }) =>
    ifFound(findApplication(world, app_name), (app) => {
      for (const version of app.versions.values()) forgetVersion(world, version)
      world.applications.delete(app)
      world.deployments.reconcileFleets()
      return noContent()
    }),

  list: (_input, { world }) => ok({ applications: world.applications.values().map(applicationView) }),
}

/** Returns the artifact of a tag. Tags with the same hash are one artifact, which is deleted with its last tag. */
function artifactOf({ tags }: ImageRecord, { hash, sizeMb }: ImageTagRecord) {
  const remaining = Array.from(tags).flatMap(([tag, entry]) => (entry.hash === hash ? [tag] : []))
  return {
    artifact_deleted: remaining.length === 0,
    remaining_tags: remaining,
    image_hash: hash,
    size_mb: sizeMb,
  }
}

/** The handlers of the registry. An image without tags remains, with an empty list of tags. */
export const registry: HandlersOf<'registry'> = {
  listTags: ({ image_name }, { world }) => {
    const image = world.registry.get(image_name)
    if (image === undefined) return unknown('image', image_name)
    return ok({
      data: Array.from(image.tags, ([tag, entry]) => ({
        tag,
        last_push_at: formatB(entry.pushedAt),
        artifact: artifactOf(image, entry),
      })),
    })
  },

  deleteTag: ({ image_name, tag_name }, { world }) => {
    const image = world.registry.get(image_name)
    if (image === undefined) return unknown('image', image_name)
    const entry = image.tags.get(tag_name)
    if (entry === undefined) return unknown(`tag of ${JSON.stringify(image_name)}`, tag_name)
    image.tags.delete(tag_name)
    return ok({ artifact: artifactOf(image, entry), deleted_tag: tag_name })
  },
}
