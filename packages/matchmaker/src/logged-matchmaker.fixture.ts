import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createManualClock, seededRandom } from '@muster/core/clock'
import { createMatchmakerOver } from './create-matchmaker.js'
import { duel, watched } from './matchmaker.fixture.js'
import type { MatchmakerOptions } from './options.js'
import { createGate } from './partition/leader.js'
import { openStore, type Store, type StoreOptions } from '@muster/hosting'
import type { MatchRecord, ServerLog, ServerRecord } from '@muster/hosting/internal'
import { readBack } from '@muster/hosting/store-fixture'
import { createTestService, type ServiceOptions } from '@muster/hosting/service-fixture'

export { duel }

/** One process of a world. */
interface Life {
  readonly log: Store
  readonly end: () => void
}

interface LifeOptions extends Partial<MatchmakerOptions> {
  readonly log?: Partial<StoreOptions>
  readonly isRead?: boolean
  /** Returns the log of servers to use, given the store's own log. */
  readonly over?: (serverLog: ServerLog) => ServerLog
}

/** Creates a world that outlives its processes: a clock, a service, and a store in a folder of its own. */
export function createWorld({
  service: serviceOptions,
  ...given
}: Partial<MatchmakerOptions> & { readonly service?: Partial<ServiceOptions> } = {}) {
  const clock = createManualClock()
  const service = createTestService({ clock, ...serviceOptions })
  const folder = mkdtempSync(join(tmpdir(), 'muster-store-'))
  /** One random source for all processes, so that no two make the same id. */
  const random = seededRandom(1)
  const lives: Life[] = []
  let files = 0
  let path = join(folder, 'store-0')

  /** Starts the next process. @param options.isRead true to read its servers immediately. Default true. */
  const live = async (options: LifeOptions = {}) => {
    const { log: logOptions, isRead = true, over = (serverLog) => serverLog, ...others } = options
    const log = await openStore({ path, clock, fsync: 'never', ...logOptions })
    const gate = createGate()
    lives.push({ log, end: gate.shut })
    const matchmaker = createMatchmakerOver(
      {
        deployments: gate.service(service.deployments),
        queues: [duel],
        clock,
        random,
        listLagMs: 4000,
        store: log,
        ...given,
        ...others,
      },
      (serverLog) => gate.serverLog(over(serverLog)),
    )
    const watching = watched(matchmaker)
    if (isRead) {
      void matchmaker.ready().catch(() => {})
      // Wait until the matchmaker has read its servers, if they can be read.
      await new Promise((resolve) => setImmediate(resolve))
    }
    const run = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 250) {
        const ticked = matchmaker.tick()
        await clock.advance(250)
        await clock.until(ticked)
      }
    }
    return { matchmaker, log, run, ...watching }
  }

  const stored = <T>(kind: string) =>
    (readBack(path).get(kind) ?? []).map(
      ({ value, change = '{}' }) => ({ ...JSON.parse(value), ...JSON.parse(change) }) as T,
    )
  /** Returns the servers that are stored now. */
  const servers = () => stored<ServerRecord>('server')
  /** Returns the matches that are stored now. */
  const matches = () => stored<MatchRecord>('match')

  return {
    clock,
    service,
    servers,
    matches,
    live,
    path: () => path,
    /** Kills the present process as kill -9 does: it does nothing from then on, and its files do not change. */
    kill: () => {
      lives.at(-1)?.end()
      files += 1
      const next = join(folder, `store-${files}`)
      if (existsSync(path)) copyFileSync(path, next)
      path = next
    },
    remove: async () => {
      for (const { log } of lives) await log.close().catch(() => {})
      rmSync(folder, { recursive: true })
    },
  }
}

export type World = ReturnType<typeof createWorld>

/** Worlds of a test file. */
export function createWorlds() {
  const worlds: World[] = []
  return {
    createWorld: (options: Parameters<typeof createWorld>[0] = {}) => {
      const world = createWorld(options)
      worlds.push(world)
      return world
    },
    removeAll: async () => {
      for (const world of worlds.splice(0)) await world.remove()
    },
  }
}
