import type { Clock } from '@muster/core/clock'

export interface WatchFileOptions {
  readonly path: string
  readonly clock: Clock
  /** Called a moment after the last of several changes. */
  readonly changed: () => void
  /** Milliseconds between two looks at the file. Default 500. */
  readonly everyMs?: number | undefined
}

/** Milliseconds without a further change: by then an editor has written all of it (our choice). */
const QUIET_MS = 300

/**
 * Watches one file by looking at it: that sees it replaced by a rename, behind a link whose target changes (as
 * Kubernetes mounts files), and on disks of the network. Returns a function that ends this.
 */
export async function watchFile({
  path,
  clock,
  changed,
  everyMs = 500,
}: WatchFileOptions): Promise<() => Promise<void>> {
  // Not at the top: players are served before the file is watched.
  const { watch } = await import('chokidar')
  const settle = createSettle(clock, changed)
  const watcher = watch(path, { ignoreInitial: true, usePolling: true, interval: everyMs, followSymlinks: true })
  watcher.on('all', settle.touched)
  await new Promise<void>((resolve) => watcher.once('ready', () => resolve()))
  return async () => {
    settle.end()
    await watcher.close()
  }
}

/** Calls a function once, after a burst of touches has ended. */
function createSettle(clock: Clock, settled: () => void): { touched: () => void; end: () => void } {
  let waiting: AbortController | undefined
  return {
    touched: () => {
      waiting?.abort()
      const mine = new AbortController()
      waiting = mine
      clock.sleep(QUIET_MS, mine.signal).then(settled, () => {})
    },
    end: () => waiting?.abort(),
  }
}
