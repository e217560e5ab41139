import { z } from 'zod'
import { operation } from '../operation.js'
import {
  answer,
  type Counted,
  counted,
  input,
  integer,
  maybe,
  type Maybe,
  numberOrString,
  type NumberOrString,
  page,
  PageInput,
  segment,
  text,
} from './fields.js'

/** A location: the seven basic fields (service-api, Location). */
export interface Location {
  /** The city's name. */
  readonly city?: Maybe<string>
  /** The country's name. */
  readonly country?: Maybe<string>
  /** The continent's name. */
  readonly continent?: Maybe<string>
  /** State, province or the like. */
  readonly administrative_division?: Maybe<string>
  /** The form of a time zone is not documented; a name such as America/Toronto in the emulator. */
  readonly timezone?: Maybe<string>
  /** Latitude in degrees; a string in the specification's sample of the location list. */
  readonly latitude?: Maybe<NumberOrString>
  /** Longitude in degrees; a string in the specification's sample of the location list. */
  readonly longitude?: Maybe<NumberOrString>
}

/** A location where deployments can run, with the further fields of the location list. */
export interface ListedLocation extends Location {
  /** Type of the location; only 'standard' has been seen. */
  readonly type?: Maybe<string>
  /** Tags of the location; present only if they were requested. */
  readonly tags?: Maybe<
    readonly {
      /** The tag's name. */
      readonly key?: Maybe<string>
      /** The tag's value. */
      readonly value?: Maybe<string>
    }[]
  >
}

const basicFields = {
  city: maybe(text),
  country: maybe(text),
  continent: maybe(text),
  administrative_division: maybe(text),
  timezone: maybe(text),
  latitude: maybe(numberOrString),
  longitude: maybe(numberOrString),
}
export const Location = answer<Location>('Location', basicFields)
const ListedLocation = answer<ListedLocation>('ListedLocation', {
  ...basicFields,
  type: maybe(text),
  tags: maybe(z.array(z.looseObject({ key: maybe(text), value: maybe(text) }))),
})

/** The locations to list. */
export interface ListLocations extends PageInput {
  /** An application's name. With `app` and `version` given, locations with insufficient capacity are omitted. */
  readonly app?: string | undefined
  /** A version's name (custom version identifier). */
  readonly version?: string | undefined
  /** Type of the listed locations; only 'standard' has been seen. The parameter's name is a setting. */
  readonly type?: string | undefined
  /** True requests the locations' tags. The parameter's name is a setting. */
  readonly tags?: boolean | undefined
}

/** Where deployments can run. `total_count` and `pagination` are documented as always present. */
export interface LocationList extends Counted {
  /** The entries of this page. */
  readonly locations: readonly ListedLocation[]
  /** Messages of the service about the list. */
  readonly messages?: Maybe<readonly string[]>
}

/** A host that players can ping to measure their latency to a location (service-api, Ping beacon). */
export interface Beacon {
  /** Public IP address of the host. */
  readonly host: string
  /** Host name to ping. */
  readonly fqdn?: Maybe<string>
  /** Port that answers UDP pings, 0 to 59999. */
  readonly udp_port?: Maybe<number>
  /** Port that answers TCP pings, 0 to 59999. */
  readonly tcp_port?: Maybe<number>
  /** The location of the site: the seven basic fields. */
  readonly location: Location
}

/** Hosts to ping. */
export interface BeaconList {
  /** The entries of this page. */
  readonly locations: readonly Beacon[]
  /** Number of all entries. */
  readonly count?: Maybe<number>
}

export const Beacon = answer<Beacon>('Beacon', {
  host: text,
  fqdn: maybe(text),
  udp_port: maybe(z.int().min(0).max(59999)),
  tcp_port: maybe(z.int().min(0).max(59999)),
  location: Location,
})

const LocationList = answer<LocationList>('LocationList', {
  locations: z.array(ListedLocation),
  messages: maybe(z.array(text)),
  ...counted,
})
const BeaconList = answer<BeaconList>('BeaconList', { locations: z.array(Beacon), count: maybe(integer) })
const ListLocations = input<ListLocations>('ListLocations', {
  app: segment.optional(),
  version: segment.optional(),
  type: z.string().min(1).optional(),
  tags: z.boolean().optional(),
  ...page,
})

export const locations = {
  /**
   * List locations; with app and version, only those with capacity.
   * Route: `GET /v1/locations`.
   * Limit: none documented. Errors: those of every call.
   * The client caches the response for `cacheTtlMs`, except with `app` and `version`.
   * Source: service-api, Locations and beacons.
   */
  list: operation('GET /v1/locations', {
    summary: 'List locations; with app and version, only those with capacity',
    input: ListLocations,
    output: LocationList,
    errors: [400, 401, 500],
    items: 'locations',
    open: { type: 'locationTypeParameter', tags: 'locationTagsParameter' },
  }),
  /**
   * List ping beacons.
   * Route: `GET /v1/locations/beacons`.
   * Limit: none documented. Errors: those of every call.
   * The client caches the response for `cacheTtlMs`.
   * Source: service-api, Locations and beacons.
   */
  beacons: operation('GET /v1/locations/beacons', {
    summary: 'List ping beacons',
    input: PageInput,
    output: BeaconList,
    errors: [400, 401, 500],
    items: 'locations',
  }),
} as const
