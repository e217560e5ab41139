// pure: which deployments a search is for

/** What can be searched for. */
export interface Searchable {
  readonly request_id: string
  readonly status: string
  readonly application: string
  readonly version: string
  readonly location: string | null
  readonly error: string | null
  readonly tags: readonly string[]
}

/** Each word of the search occurs somewhere in it, whatever its case and accents. An empty search is for all. */
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
