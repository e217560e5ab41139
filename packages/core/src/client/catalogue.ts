import type { Api } from '../api/api.js'
import type { IsPaged } from './client-types.js'

/** How an operation is called: once, or page by page as well. */
type Kinds<Description> = {
  readonly [Group in keyof Description]: {
    readonly [Name in keyof Description[Group]]: IsPaged<Description[Group][Name]> extends true ? 'pages' : 'once'
  }
}

/**
 * The operations by name, so that a client can be created before the description is loaded. A missing operation, or one
 * of the wrong kind, does not compile.
 */
export const catalogue: Kinds<Api> = {
  applications: { create: 'once', update: 'once', get: 'once', delete: 'once', list: 'once' },
  versions: { create: 'once', get: 'once', update: 'once', delete: 'once', list: 'once' },
  registry: { listTags: 'once', deleteTag: 'once' },
  storages: { create: 'once', get: 'once', update: 'once', delete: 'once', list: 'pages' },
  pullProfiles: {
    create: 'once',
    get: 'once',
    update: 'once',
    delete: 'once',
    list: 'pages',
    link: 'once',
    unlink: 'once',
  },
  locations: { list: 'pages', beacons: 'pages' },
  deployments: {
    create: 'once',
    get: 'once',
    stop: 'once',
    selfStop: 'once',
    bulkStop: 'once',
    list: 'pages',
    logs: 'once',
    metrics: 'once',
    deployLegacy: 'once',
  },
  fleets: { create: 'once', get: 'once', update: 'once', delete: 'once', list: 'pages', link: 'once', unlink: 'once' },
  policies: { create: 'once', list: 'pages', get: 'once', update: 'once', delete: 'once' },
  tags: { list: 'once', get: 'once', create: 'once', update: 'once', delete: 'once' },
  relays: { create: 'once', list: 'once', get: 'once', delete: 'once', authorizeUser: 'once', revokeUser: 'once' },
}
