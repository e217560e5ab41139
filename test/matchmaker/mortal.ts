import { createClient, inProcess } from '@muster/core'
import { seededRandom, type Clock } from '@muster/core/clock'
import type { DeploymentService } from '@muster/matchmaker'
import type { ServerLog } from '@muster/matchmaker/internal'

interface MortalParts {
  readonly clock: Clock
  readonly seed: number
  /** The stored servers, which survive the process. */
  readonly disk: ServerLog
  readonly answer: (request: Request) => Promise<Response>
}

/** The dependencies of a matchmaker whose process can be killed. After that, none of their promises settles. */
export interface Mortal {
  readonly clock: Clock
  readonly serverLog: ServerLog
  readonly deployments: DeploymentService
  kill(): void
}

const never = <T>() => new Promise<T>(() => {})

export function createMortal({ clock, seed, disk, answer }: MortalParts): Mortal {
  let dead = false
  /** Passes a result on only while the process lives. */
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
  return {
    clock: ownClock,
    serverLog: {
      append: async (entries) => {
        if (dead) return never()
        await disk.append(entries)
        await ownClock.sleep(20)
      },
      open: () => disk.open(),
    },
    deployments: client.deployments,
    kill: () => {
      dead = true
    },
  }
}
