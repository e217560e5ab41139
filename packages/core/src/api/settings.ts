import { type Bounds, defaultValueLimits, type ValueLimits } from './value-limits.js'

/**
 * The points that the specification leaves open, each with Muster's default and the reason for it. The client and the
 * emulator read the same settings, so both can follow a service that uses other values. None of them was checked
 * against a live service.
 */
export interface Settings {
  /**
   * Path of create deployment. Default `/deployments`, as written in the specification. A public deployment of the
   * interface has `/v2/deployments` (public fact, sure).
   */
  readonly createDeploymentPath: string
  /** Query parameter of stops that chooses where logs go. Default `container_log_storage` (public fact, sure). */
  readonly containerLogStorageParameter: string
  /**
   * Query parameter of the deployment list that carries filters and order as JSON. Default `query` (public fact, fairly
   * sure).
   */
  readonly deploymentQueryParameter: string
  /** Query parameter of the location list that filters by type. Default `type` (public fact, sure). */
  readonly locationTypeParameter: string
  /** Query parameter of the location list that requests tags. Default `tags` (public fact, sure). */
  readonly locationTagsParameter: string
  /**
   * True adds fields that a public deployment requires and the specification does not mention: `is_active: true` and an
   * empty `image` of applications (public fact, sure). Fields that the caller states are not replaced. Default true.
   */
  readonly fillRequired: boolean
  /** Limits on values that are known only from public material. */
  readonly valueLimits: ValueLimits
}

export const defaultSettings: Settings = {
  createDeploymentPath: '/deployments',
  containerLogStorageParameter: 'container_log_storage',
  deploymentQueryParameter: 'query',
  locationTypeParameter: 'type',
  locationTagsParameter: 'tags',
  fillRequired: true,
  valueLimits: defaultValueLimits,
}

/** Settings as a caller gives them. Each absent setting has its default, and so has each absent bound of a limit. */
export type SettingsOption = {
  readonly [Name in keyof Settings]?: (Name extends 'valueLimits' ? ValueLimitsOption : Settings[Name]) | undefined
}

/** Limits on values, e.g. `{ maxDuration: { max: 2880 } }`. */
export type ValueLimitsOption = {
  readonly [Name in keyof ValueLimits]?: { readonly [Bound in keyof Bounds]?: Bounds[Bound] | undefined } | undefined
}

/** Returns the given settings, with defaults for absent ones. */
export function settingsWith({ valueLimits = {}, ...names }: SettingsOption = {}): Settings {
  const limits = (Object.keys(defaultValueLimits) as (keyof ValueLimits)[]).map((name) => {
    const { min, max } = defaultValueLimits[name]
    const given = valueLimits[name]
    return [name, { min: given?.min ?? min, max: given?.max ?? max }] as const
  })
  const chosen = Object.fromEntries(Object.entries(names).filter(([, value]) => value !== undefined))
  return { ...defaultSettings, ...chosen, valueLimits: Object.fromEntries(limits) as unknown as ValueLimits }
}
