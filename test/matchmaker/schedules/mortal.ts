import { createClient, inProcess } from '@muster/core'
import { seededRandom, type Clock, type Random } from '@muster/core/clock'
import type { DeploymentService } from '@muster/matchmaker'
import type { ServerLog, HostingEntry } from '@muster/matchmaker/internal'

/** The death of a process: at which append of its store, and whether that entry is still written. */
export interface Death {
  readonly append: number
  readonly written: boolean
}

export interface MortalParts {
  readonly clock: Clock
  readonly random: Random
  readonly seed: number
  /** The store, which survives. */
  readonly disk: ServerLog
  readonly death: Death | undefined
  /** Whether the store cannot be written now. */
  readonly isDiskFull: () => boolean
  readonly answer: (request: Request) => Promise<Response>
  readonly died: () => void
}

/** The dependencies of a matchmaker whose process can be killed. Nothing that it waits for happens after that. */
export interface Mortal {
  readonly clock: Clock
  readonly serverLog: ServerLog
  readonly deployments: DeploymentService
  readonly locations: ReturnType<typeof createClient>['locations']
  readonly isDead: () => boolean
  kill(): void
  /** Keeps the process from dying any more. */
  spare(): void
  close(): Promise<void>
}

const never = <T>() => new Promise<T>(() => {})

export function createMortal({ clock, random, seed, disk, death, isDiskFull, answer, died }: MortalParts): Mortal {
  let dead = false
  let appends = 0
  let spared = false
  const kill = () => {
    dead = true
    died()
  }
  /** Outside events reach only a living process. */
  const alive = async <T>(promise: Promise<T>): Promise<T> => {
    try {
      const value = await promise
      return dead ? await never<T>() : value
    } catch (error) {
      return dead ? never<T>() : Promise.reject(error as Error)
    }
  }
  const ownClock: Clock = { now: () => clock.now(), sleep: (ms, signal) => alive(clock.sleep(ms, signal)) }
  const client = createClient({
    baseUrl: 'http://emulator.invalid',
    token: 'dev',
    clock: ownClock,
    random: seededRandom(seed + 1),
    dispatcher: inProcess((request) => (dead ? never() : alive(answer(request)))),
  })
  const append = async (entries: readonly HostingEntry[]): Promise<void> => {
    if (dead) return never()
    appends += 1
    const dies = !spared && death?.append === appends
    if (dies && !death.written) kill()
    if (dead) return never()
    if (isDiskFull()) throw new Error('the disk is full')
    await disk.append(entries)
    if (dies) kill()
    await ownClock.sleep(random() < 0.5 ? 0 : 20)
  }
  return {
    clock: ownClock,
    serverLog: { append, open: () => disk.open() },
    deployments: client.deployments,
    locations: client.locations,
    isDead: () => dead,
    kill,
    spare: () => {
      spared = true
    },
    close: () => client.close(),
  }
}
