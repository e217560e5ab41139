import type { Clock, Random } from '@muster/core/clock'
import type { RelayService } from '../sessions/session-context.js'
import { createRelaySessions } from '../sessions/sessions.js'
import { createLobbies } from './create-lobbies.js'
import type { Lobbies } from './lobbies.js'
import type { LobbyStore } from './store.js'

export interface Process {
  readonly lobbies: Lobbies
  /** Cuts the process off from everything, like kill -9. */
  kill(): void
  /** Closes the process in order. */
  close(): Promise<void>
}

export interface World {
  readonly service: RelayService
  readonly store: LobbyStore
  readonly clock: Clock
  readonly random: Random
}

/** Starts a process that serves lobbies, in parallel with or after others. It can be killed at any moment. */
export function startProcess({ service, store, clock, random }: World): Process {
  let alive = true
  const never = new Promise<never>(() => {})
  /** Passes calls and responses on only while the process is alive. */
  const whileAlive = <T extends object>(target: T): T =>
    new Proxy(target, {
      get: (_, key) => {
        const member: unknown = Reflect.get(target, key)
        if (typeof member !== 'function') return member
        return (...args: unknown[]) => {
          const result: unknown = alive ? member.apply(target, args) : never
          return result instanceof Promise
            ? result.then(
                (value: unknown) => (alive ? value : never),
                (error: unknown) => (alive ? Promise.reject(error) : never),
              )
            : result
        }
      },
    })

  const own = whileAlive(clock)
  const randomInt = (max: number) => Math.floor(random() * max)
  const relay = createRelaySessions({ client: whileAlive(service), clock: own, randomInt })
  const limits = { joinsPerPlayer: null, joinsPerAddress: null, joinsOverall: null, createsPerPlayer: null }
  const lobbies = createLobbies({ relay, store: whileAlive(store), clock: own, randomInt, limits })
  return {
    lobbies,
    kill: () => {
      alive = false
    },
    close: async () => {
      await lobbies.close({ timeoutMs: 600_000 })
      await relay.close({ timeoutMs: 600_000 })
    },
  }
}
