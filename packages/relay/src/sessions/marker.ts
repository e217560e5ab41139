// pure: how a session says whose it is
import { unguessable, type RandomInt } from '../random-text.js'

/**
 * The service has no tags and no idempotency keys for relay sessions, but it repeats a session's webhook
 * URL. So every create carries a URL of its own: by it a session is found whose create was never answered,
 * and one whose process is gone.
 */
export interface Marker {
  /** What the opener calls the session. */
  readonly label: string | undefined
  /** The whole URL. It is a secret: who knows it can send hints. */
  readonly url: string
}

export interface Markers {
  create(label: string | undefined): Marker
  /** Whether this process made it. */
  isOwn(marker: Marker): boolean
  /** Undefined for a URL that no owner of this name made. */
  read(url: string | undefined): Marker | undefined
  /** The marker's URL that a request's path ends like; behind a proxy, what comes before may be anything. */
  urlAt(pathname: string): string
}

const NO_LABEL = '-'

/**
 * Letters and digits that are the same in all markers of a process: 47 bits, so that no two processes have the same.
 */
const PROCESS_LENGTH = 8

/** What a label may consist of, so that it can stand in a path. */
export const LABEL = /^[A-Za-z0-9][\w.~-]{0,79}$/

/**
 * @param baseUrl where hints arrive.
 * @param owner the same for all processes of one backend, and for no other's.
 */
export function createMarkers(baseUrl: string, owner: string, randomInt: RandomInt): Markers {
  const base = baseUrl.replace(/\/+$/, '')
  const prefix = `${base}/${owner}/`
  // Nobody but the service sees it, so it takes nothing from what cannot be guessed.
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
