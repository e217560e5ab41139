// pure: finds deployments by a search text

/** The fields that a search looks at. */
export interface Searchable {
  readonly request_id: string
  readonly status: string
  readonly application: string
  readonly version: string
  readonly location: string | null
  readonly error: string | null
  readonly tags: readonly string[]
}

/**
 * Creates a predicate from a search text: each of its words occurs in some field, ignoring case and accents. An empty
 * text matches all.
 */
export function searchFor(text: string): (one: Searchable) => boolean {
  const words = plain(text)
    .split(/\s+/)
    .filter((word) => word !== '')
  return ({ request_id, status, application, version, location, error, tags }) => {
    const all = plain([request_id, status, application, version, location ?? '', error ?? '', ...tags].join('\n'))
    return words.every((word) => all.includes(word))
  }
}

const plain = (text: string) =>
  text
    .normalize('NFD')
    .replaceAll(/\p{Mark}/gu, '')
    .toLowerCase()
