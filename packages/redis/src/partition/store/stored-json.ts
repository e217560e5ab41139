// pure: JSON as it was stored

/**
 * Reads what was stored as JSON. @param what e.g. `header`.
 * @throws Error that repeats nothing of the text, which may hold addresses and secrets
 */
export function readStored<T>(text: string, what: string): T {
  try {
    return JSON.parse(text) as T
  } catch {
    throw new Error(`a stored ${what} is not as it was written: it is no JSON`)
  }
}
