import { constants, closeSync, existsSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Clock, type ManualClock, seededRandom, systemClock } from '@muster/core/clock'
import { createLocalAllocator, type LocalAllocatorOptions } from './local-allocator.js'

/** A game server that writes its process id to a file when it runs, and ends on SIGTERM or SIGUSR1. */
const GAME = 'trap "exit 0" USR1 TERM; echo $$ >>"$0/$SERVICE_REQUEST_ID/game"; sleep 3600 & wait'

/**
 * Opens an allocator of local processes in a new folder. Waits below 100 ms take a fifth of their real time. Longer
 * ones use the clock.
 */
export async function openLocalWorld(manual: Pick<ManualClock, 'now' | 'sleep'>) {
  const state = await mkdtemp(join(tmpdir(), 'muster-servers-'))
  const clock: Clock = {
    now: () => manual.now(),
    sleep: (ms, signal) => (ms < 100 ? systemClock.sleep(ms / 5, signal) : manual.sleep(ms, signal)),
  }
  const own = { state, clock, random: seededRandom(1), command: ['/bin/sh', '-c', GAME, state] }
  const gamesOf = (id: string) => {
    const file = join(state, id, 'game')
    // A line may be incomplete, so only lines with their end count. Process id 0 would mean this process group.
    return existsSync(file) ? (readFileSync(file, 'utf8').match(/\d+(?=\n)/g) ?? []).map(Number) : []
  }
  const isHeld = (id: string) => {
    try {
      closeSync(openSync(join(state, id, 'alive'), constants.O_WRONLY | constants.O_NONBLOCK))
      return true
    } catch {
      return false
    }
  }
  const doesRun = (pid: number) => {
    try {
      return process.kill(pid, 0)
    } catch {
      return false
    }
  }
  const ids = () => (existsSync(state) ? readdirSync(state) : [])
  const running = () =>
    ids().flatMap((id) =>
      isHeld(id)
        ? gamesOf(id)
            .filter(doesRun)
            .map(() => id)
        : [],
    )
  /** Resolves once the game server runs, or has ended before. */
  const up = async (id: string) => {
    while (gamesOf(id).length === 0 && isHeld(id)) await systemClock.sleep(1)
  }
  /** Ends a game server. Does nothing if it has ended already. */
  const end = async (id: string, how: 'failed' | 'ended') => {
    await up(id)
    if (!isHeld(id)) return
    const group = Number(readFileSync(join(state, id, 'claim'), 'utf8'))
    if (how === 'failed' && group > 1) process.kill(-group, 'SIGKILL')
    else for (const pid of gamesOf(id)) process.kill(pid, 'SIGUSR1')
    while (isHeld(id)) await systemClock.sleep(1)
  }
  return {
    state,
    /** Creates a further allocator for the same folder, like a process after a restart. */
    open: (options: Partial<LocalAllocatorOptions> = {}) => createLocalAllocator({ ...own, ...options }),
    running,
    up,
    end,
    close: async () => {
      await Promise.all(ids().map((id) => end(id, 'failed')))
      await rm(state, { recursive: true, force: true })
    },
  }
}
