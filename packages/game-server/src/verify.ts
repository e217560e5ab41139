import type { Clock } from './clock.js'
import { JoinRefused } from './errors.js'
import { fits } from './shapes.js'

/** What `muster verify-server` wants of a server: docs/game-server.md, Verify it. */
type Wish =
  | { readonly id: number; readonly do: 'admit'; readonly token: string }
  | { readonly id: number; readonly do: 'leave'; readonly player: string; readonly mayReturnMs: number }
  | { readonly id: number; readonly do: 'over'; readonly match: string }

export interface VerifyOptions {
  /** MUSTER_VERIFY_URL. */
  readonly url: string
  readonly clock: Clock
  readonly fetch: typeof fetch
  /** Ends it. */
  readonly signal: AbortSignal
  readonly server: {
    admit(token: string): Promise<{ readonly id: string }>
    left(playerId: string, options: { readonly mayReturnMs: number }): void
  }
  /** Ends a match with a result. Does nothing for one that is not served. */
  readonly over: (matchId: string) => void
}

const PAUSE_MS = 500

/** Stands in for players and the game: does what the verifier wishes, and says what came of it. Never rejects. */
export async function obeyVerifier(options: VerifyOptions): Promise<void> {
  const { url, clock, signal, server } = options

  const act = async (wish: Wish): Promise<object> => {
    if (wish.do === 'leave') server.left(wish.player, { mayReturnMs: wish.mayReturnMs })
    else if (wish.do === 'over') options.over(wish.match)
    else return { player: (await server.admit(wish.token)).id }
    return {}
  }
  const resultOf = (wish: Wish) =>
    act(wish).then(
      (result) => ({ id: wish.id, ok: true, by: 'library', ...result }),
      (error: unknown) => ({
        id: wish.id,
        ok: false,
        by: 'library',
        why: error instanceof JoinRefused ? error.code : String(error),
      }),
    )

  while (!signal.aborted) {
    try {
      const answer = await options.fetch(url, { signal })
      if (answer.status === 410) return
      if (answer.status === 204) continue
      const wish: unknown = await answer.json()
      if (!fits('wish', wish)) throw new TypeError('no wish of the verifier')
      const result = await resultOf(wish as Wish)
      const headers = { 'content-type': 'application/json' }
      const taken = await options.fetch(url, { method: 'POST', headers, body: JSON.stringify(result), signal })
      await taken.body?.cancel()
    } catch {
      await clock.sleep(PAUSE_MS, signal).catch(() => {})
    }
  }
}
