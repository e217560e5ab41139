// pure: the variables of a deployment's container
import type { Site } from './placement.js'

/**
 * The variables that the service itself injects (service-api, What the service does). Only the first two names are in
 * the specification; the others are public facts.
 */
export interface Injected {
  readonly requestId: string
  readonly deleteUrl: string
  /** The token with which the container can delete the deployment. It is secret. */
  readonly deleteToken: string
  readonly tags: readonly string[]
  /** The location of the deployment; undefined if no server could be allocated. */
  readonly site: Site | undefined
}

/** Default prefix of the names of the service's variables. */
const PREFIX = 'SERVICE'

/** Converts a port's name to a part of a variable's name. */
const variableName = (name: string) => name.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_')

/**
 * Merges the variables of a container. A later variable replaces an earlier one of the same key. No variable replaces
 * an injected one.
 */
export function environmentOf(
  variables: readonly { readonly key: string; readonly value: string }[],
  injected: Injected,
  prefix = PREFIX,
): Readonly<Record<string, string>> {
  return {
    ...Object.fromEntries(variables.map(({ key, value }) => [key, value])),
    ...injectedVariables(injected, prefix),
  }
}

/** A variable of a version (flag `is_secret`) or of a deployment (flag `is_hidden`). */
interface FlaggedVariable {
  readonly key: string
  readonly is_secret?: boolean | undefined
  readonly is_hidden?: boolean | undefined
}

/**
 * Returns the names of the variables whose values are secret. If two variables have the same key, the later one
 * decides.
 */
export function hiddenNames(variables: readonly FlaggedVariable[], prefix = PREFIX): ReadonlySet<string> {
  const flags = new Map(
    variables.map(({ key, is_secret, is_hidden }) => [key, is_secret === true || is_hidden === true]),
  )
  flags.set(`${prefix}_DELETE_TOKEN`, true)
  return new Set(Array.from(flags).flatMap(([key, isHidden]) => (isHidden ? [key] : [])))
}

function injectedVariables(
  { requestId, deleteUrl, deleteToken, tags, site }: Injected,
  prefix: string,
): Record<string, string> {
  return {
    [`${prefix}_REQUEST_ID`]: requestId,
    [`${prefix}_DELETE_URL`]: deleteUrl,
    [`${prefix}_DELETE_TOKEN`]: deleteToken,
    [`${prefix}_DEPLOYMENT_TAGS`]: tags.join(','),
    ...(site && siteVariables(site, prefix)),
  }
}

function siteVariables({ place, publicIp, ports }: Site, prefix: string): Record<string, string> {
  const shown = ports.map(({ name, internal, external, protocol }) => ({ name, internal, external, protocol }))
  return {
    [`${prefix}_PUBLIC_IP`]: publicIp,
    [`${prefix}_DEPLOYMENT_LOCATION`]: JSON.stringify(place.location),
    [`${prefix}_PORTS_MAPPING`]: JSON.stringify({ ports: Object.fromEntries(shown.map((port) => [port.name, port])) }),
    ...Object.fromEntries(
      shown.flatMap(({ name, internal, external, protocol }) => [
        [`${prefix}_PORT_${variableName(name)}_INTERNAL`, String(internal)],
        [`${prefix}_PORT_${variableName(name)}_EXTERNAL`, String(external)],
        [`${prefix}_PORT_${variableName(name)}_PROTOCOL`, protocol],
      ]),
    ),
  }
}
