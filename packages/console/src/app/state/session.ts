/** Where the token is kept: in this tab only, and gone when it is closed. */
export interface TokenStore {
  readonly read: () => string | undefined
  readonly write: (token: string | undefined) => void
}

const KEY = 'muster-console-token'

export const tabTokens = (storage: Storage): TokenStore => ({
  read: () => storage.getItem(KEY) ?? undefined,
  write: (token) => (token === undefined ? storage.removeItem(KEY) : storage.setItem(KEY, token)),
})

/** The token of a fragment such as `#token=…`; `&` and what follows is not part of it. */
export function tokenIn(fragment: string): string | undefined {
  const found = new URLSearchParams(fragment.replace(/^#/, '')).get('token')?.trim()
  return found === undefined || found === '' ? undefined : found
}
