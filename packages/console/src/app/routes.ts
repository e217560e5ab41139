// pure: views and their addresses

export type Route =
  | { readonly view: 'now'; readonly queue: string | undefined }
  | { readonly view: 'find'; readonly id: string | undefined }
  | { readonly view: 'queues'; readonly queue: string | undefined }
  | { readonly view: 'servers' }
  | { readonly view: 'changes' }

const decoded = (part: string | undefined) => {
  if (part === undefined || part === '') return undefined
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** Parses a fragment, e.g. `#/find/some%20id`. Any unknown text means the first view. */
export function routeOf(fragment: string): Route {
  const [, view, part] = /^#\/(\w+)(?:\/(.*))?$/.exec(fragment) ?? []
  if (view === 'find') return { view, id: decoded(part) }
  if (view === 'queues') return { view, queue: decoded(part) }
  if (view === 'servers' || view === 'changes') return { view }
  return { view: 'now', queue: view === 'now' ? decoded(part) : undefined }
}

/** Returns the address of a view, optionally for a player, ticket, match, server or queue. */
export const hrefOf = (view: Route['view'], part?: string): string =>
  part === undefined ? `#/${view}` : `#/${view}/${encodeURIComponent(part)}`
