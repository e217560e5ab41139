import type { Clock } from '@muster/core/clock'
import type { Terminal } from '../terminal.js'

/** Shows on the standard error how far work is, and when it will be done. */
export interface Progress {
  /** @param share of all the work that is done, from 0 to 1. */
  share(share: number): void
  /** A part is done: where no bar is seen, a line says so. */
  part(text: string): void
  /** Removes the bar. */
  end(): void
}

/** Milliseconds between two drawings of the bar. */
const GAP_MS = 100
/** Share of the work from which on its speed tells when it will be done. */
const TELLING = 0.02
const WIDTH = 24

export function createProgress({ draw, complain }: Terminal, clock: Clock): Progress {
  const startedAt = clock.now()
  let drawnAt = -Infinity
  let latest = ''
  return {
    share: (share) => {
      const now = clock.now()
      if (draw === undefined || (now - drawnAt < GAP_MS && share < 1)) return
      drawnAt = now
      draw(`${barOf(share)} ${leftOf(share, now - startedAt)}${latest}`)
    },
    part: (text) => {
      latest = ` · ${text}`
      if (draw === undefined) complain(text)
    },
    end: () => draw?.(''),
  }
}

function barOf(share: number): string {
  const full = Math.round(share * WIDTH)
  const percent = String(Math.floor(share * 100)).padStart(3)
  return `${'█'.repeat(full)}${'░'.repeat(WIDTH - full)} ${percent} %`
}

function leftOf(share: number, elapsedMs: number): string {
  if (share < TELLING) return '· …'
  const seconds = Math.ceil((elapsedMs * (1 - share)) / share / 1000)
  const minutes = Math.floor(seconds / 60)
  return minutes === 0 ? `· ${seconds} s left` : `· ${minutes} min ${seconds % 60} s left`
}
