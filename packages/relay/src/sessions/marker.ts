// pure: how a session's owner is recognized
import { unguessable, type RandomInt } from '../random-text.js'

/**
 * Marks a session with its owner. The service has no tags and no idempotency keys for relay sessions, but it returns a
 * session's webhook URL. So every create sends a unique URL, by which a session is found if its create was never
 * answered or its process is gone.
 */
export interface Marker {
  /** The opener's name for the session. */
  readonly label: string | undefined
  /** The complete URL. It is secret, because anyone who knows it can send hints. */
  readonly url: string
}

export interface Markers {
  create(label: string | undefined): Marker
  /** Whether this process made the marker. */
  isOwn(marker: Marker): boolean
  /** Reads a marker from a URL; undefined for a URL that no owner of this name made. */
  read(url: string | undefined): Marker | undefined
  /** The marker's URL that corresponds to the end of a request's path; a proxy may have changed the part before it. */
  urlAt(pathname: string): string
}

const NO_LABEL = '-'

/** Letters and digits common to all markers of a process: 47 bits, so that no two processes share them. */
const PROCESS_LENGTH = 8

/** A label's characters and length, chosen so that a label can be part of a path. */
export const LABEL = /^[A-Za-z0-9][\w.~-]{0,79}$/

/**
 * @param baseUrl URL at which hints arrive.
 * @param owner the same for all processes of one backend, and different for every other backend.
 */
export function createMarkers(baseUrl: string, owner: string, randomInt: RandomInt): Markers {
  const base = baseUrl.replace(/\/+$/, '')
  const prefix = `${base}/${owner}/`
  // Only the service sees the process's part, and the rest of the marker remains unguessable.
  const process = unguessable(randomInt).slice(0, PROCESS_LENGTH)
  return {
    create: (label) => ({
      label,
      url: `${prefix}${label ?? NO_LABEL}/${process}${unguessable(randomInt).slice(PROCESS_LENGTH)}`,
    }),
    isOwn: ({ url }) => url.slice(url.lastIndexOf('/') + 1).startsWith(process),
    read: (url) => {
      const [label, secret, ...rest] = url?.startsWith(prefix) === true ? url.slice(prefix.length).split('/') : []
      if (url === undefined || label === undefined || secret === undefined || rest.length > 0) return undefined
      return { label: label === NO_LABEL ? undefined : label, url }
    },
    urlAt: (pathname) => [base, ...pathname.split('/').slice(-3)].join('/'),
  }
}
