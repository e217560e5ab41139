import type { Clock } from '@muster/core/clock'

/** Says in words why the program does not take players now; undefined if that is no reason. */
export type ReadinessCheck = () => string | undefined | Promise<string | undefined>

/** Whether the program takes players, and if not, why. */
export interface Ready {
  readonly is: boolean
  readonly why: readonly string[]
  /** Whether this process matches; undefined where it is alone. */
  readonly leading?: boolean | undefined
}

/** Milliseconds for which an answer holds: anybody may ask, and a check may look at every ticket. */
const HOLDS_MS = 500
/** The same for an answer that the program is not ready: whoever waits for that should hear of it soon. */
const NOT_READY_HOLDS_MS = 50

/**
 * Combines the checks, and asks them rarely.
 * @param ending says that the program ends: from then on it is not ready, whatever was said a moment ago.
 */
export function createReadiness(
  ending: () => string | undefined,
  checks: readonly ReadinessCheck[],
  clock: Clock,
  leads: () => boolean | undefined = () => undefined,
): () => Promise<Ready> {
  let asked: { readonly at: number; readonly ready: Promise<Ready> } | undefined
  let holdsMs = HOLDS_MS
  const ask = async (): Promise<Ready> => {
    const why = (await Promise.all(checks.map(reasonOf))).filter((reason) => reason !== undefined)
    holdsMs = why.length === 0 ? HOLDS_MS : NOT_READY_HOLDS_MS
    return { is: why.length === 0, why, leading: leads() }
  }
  return async () => {
    const end = ending()
    if (end !== undefined) return { is: false, why: [end], leading: leads() }
    if (asked === undefined || clock.now() - asked.at >= holdsMs) asked = { at: clock.now(), ready: ask() }
    return asked.ready
  }
}

async function reasonOf(check: ReadinessCheck): Promise<string | undefined> {
  try {
    return await check()
  } catch {
    return 'a check failed'
  }
}
