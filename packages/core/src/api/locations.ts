import { z } from 'zod'
import { operation } from '../operation.js'
import {
  integer,
  maybe,
  numberOrString,
  page,
  Pagination,
  segment,
  text,
  type Maybe,
  type NumberOrString,
  type PageInput,
} from './fields.js'

/** Where a deployment can run (service-api, Location). */
export interface Location {
  readonly city?: Maybe<string>
  readonly country?: Maybe<string>
  readonly continent?: Maybe<string>
  readonly administrative_division?: Maybe<string>
  readonly timezone?: Maybe<string>
  /** Degrees; sampled as a string in the location list. */
  readonly latitude?: Maybe<NumberOrString>
  /** Degrees; sampled as a string in the location list. */
  readonly longitude?: Maybe<NumberOrString>
  /** In the location list only. */
  readonly type?: Maybe<string>
  /** In the location list only, when asked for. */
  readonly tags?: Maybe<readonly { readonly key?: Maybe<string>; readonly value?: Maybe<string> }[]>
}

export const Location: z.ZodType<Location> = z.looseObject({
  city: maybe(text),
  country: maybe(text),
  continent: maybe(text),
  administrative_division: maybe(text),
  timezone: maybe(text),
  latitude: maybe(numberOrString),
  longitude: maybe(numberOrString),
  type: maybe(text),
  tags: maybe(z.array(z.looseObject({ key: maybe(text), value: maybe(text) }))),
})

export interface ListLocations extends PageInput {
  /** With `app` and `version` given, locations with insufficient capacity are left out. */
  readonly app?: string | undefined
  /** Custom version identifier. */
  readonly version?: string | undefined
  /** Filter by type; only 'standard' has been seen. Its parameter's name is a setting. */
  readonly type?: string | undefined
  /** Ask for tags. The parameter's name is a setting. */
  readonly tags?: boolean | undefined
}

export interface LocationList {
  readonly locations: readonly Location[]
  readonly messages?: Maybe<readonly string[]>
  /** Documented as always there. */
  readonly total_count?: Maybe<number>
  /** Documented as always there. */
  readonly pagination?: Maybe<Pagination>
}

/** A host that players can ping to measure their latency to a location (service-api, Ping beacon). */
export interface Beacon {
  /** Public IP address. */
  readonly host: string
  /** Name to ping. */
  readonly fqdn?: Maybe<string>
  /** 0 to 59999. */
  readonly udp_port?: Maybe<number>
  /** 0 to 59999. */
  readonly tcp_port?: Maybe<number>
  readonly location: Location
}

export interface BeaconList {
  readonly locations: readonly Beacon[]
  readonly count?: Maybe<number>
}

export const Beacon: z.ZodType<Beacon> = z.looseObject({
  host: text,
  fqdn: maybe(text),
  udp_port: maybe(z.int().min(0).max(59999)),
  tcp_port: maybe(z.int().min(0).max(59999)),
  location: Location,
})

const LocationList: z.ZodType<LocationList> = z.looseObject({
  locations: z.array(Location),
  messages: maybe(z.array(text)),
  total_count: maybe(integer),
  pagination: maybe(Pagination),
})
const BeaconList: z.ZodType<BeaconList> = z.looseObject({ locations: z.array(Beacon), count: maybe(integer) })
const ListLocations: z.ZodType<ListLocations> = z.strictObject({
  app: segment.optional(),
  version: segment.optional(),
  type: z.string().min(1).optional(),
  tags: z.boolean().optional(),
  ...page,
})
const ListBeacons: z.ZodType<PageInput> = z.strictObject(page)

export const locations = {
  list: operation('GET /v1/locations', {
    summary: 'List locations; with app and version, only those with capacity',
    input: ListLocations,
    output: LocationList,
    errors: [400, 401, 500],
    items: 'locations',
    open: { type: 'locationTypeParameter', tags: 'locationTagsParameter' },
  }),
  beacons: operation('GET /v1/locations/beacons', {
    summary: 'List ping beacons',
    input: ListBeacons,
    output: BeaconList,
    errors: [400, 401, 500],
    items: 'locations',
  }),
} as const
