import type { Clock } from './clock.js'
import { JoinRefused } from './errors.js'
import { fits } from './shapes.js'

/** The commands of `muster verify-server`: see docs/game-server.md, Verify it. */
type VerifyCommand =
  | { readonly id: number; readonly do: 'admit'; readonly token: string }
  | { readonly id: number; readonly do: 'leave'; readonly player: string; readonly mayReturnMs: number }
  | { readonly id: number; readonly do: 'over'; readonly match: string }

export interface VerifyOptions {
  /** The URL in MUSTER_VERIFY_URL. */
  readonly url: string
  readonly clock: Clock
  readonly fetch: typeof fetch
  /** Aborting this signal stops the execution of commands. */
  readonly signal: AbortSignal
  readonly server: {
    admit(token: string): Promise<{ readonly id: string }>
    left(playerId: string, options: { readonly mayReturnMs: number }): void
  }
  /** Ends a match with a result. Does nothing for an unknown match. */
  readonly over: (matchId: string) => void
}

const PAUSE_MS = 500

/** Acts for players and the game: executes the verifier's commands, and reports the outcomes. Never rejects. */
export async function runVerifierCommands(options: VerifyOptions): Promise<void> {
  const { url, clock, signal, server } = options

  const act = async (command: VerifyCommand): Promise<object> => {
    if (command.do === 'leave') server.left(command.player, { mayReturnMs: command.mayReturnMs })
    else if (command.do === 'over') options.over(command.match)
    else return { player: (await server.admit(command.token)).id }
    return {}
  }
  const resultOf = (command: VerifyCommand) =>
    act(command).then(
      (result) => ({ id: command.id, ok: true, by: 'library', ...result }),
      (error: unknown) => ({
        id: command.id,
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
      const command: unknown = await answer.json()
      if (!fits('command', command)) throw new TypeError('MUSTER_VERIFY_URL answered with an invalid command')
      const result = await resultOf(command as VerifyCommand)
      const headers = { 'content-type': 'application/json' }
      const taken = await options.fetch(url, { method: 'POST', headers, body: JSON.stringify(result), signal })
      await taken.body?.cancel()
    } catch {
      await clock.sleep(PAUSE_MS, signal).catch(() => {})
    }
  }
}
