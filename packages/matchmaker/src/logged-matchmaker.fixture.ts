import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createManualClock, seededRandom } from '@muster/core/clock'
import { createMatchmaker } from './create-matchmaker.js'
import { duel, watched } from './matchmaker.fixture.js'
import type { MatchmakerOptions } from './options.js'
import { createGate } from './partition/leader.js'
import { createMemoryJournal, type Journal, openStore, type Store, type StoreOptions } from '@muster/servers'
import { createTestService, type ServiceOptions } from '@muster/servers/service-fixture'

export { duel }

/** A process of a world. */
interface Life {
  readonly log: Store
  readonly end: () => void
}

/** A world that outlives its processes: a clock, a service, a journal, and a ticket log in a folder of its own. */
export function createWorld({
  service: serviceOptions,
  ...given
}: Partial<MatchmakerOptions> & { readonly service?: Partial<ServiceOptions> } = {}) {
  const clock = createManualClock()
  const service = createTestService({ clock, ...serviceOptions })
  const folder = mkdtempSync(join(tmpdir(), 'muster-ticket-log-'))
  /** One for all processes, so that no two make the same id. */
  const random = seededRandom(1)
  const memory = createMemoryJournal()
  const journal: Journal = { open: () => memory.open(), append: (entry) => memory.append(entry) }
  const lives: Life[] = []
  let files = 0
  let path = join(folder, 'tickets-0')

  /** The next process begins. @param options.isRead whether it reads its journal at once. Default true. */
  const live = async (
    options: Partial<MatchmakerOptions> & { readonly log?: Partial<StoreOptions>; readonly isRead?: boolean } = {},
  ) => {
    const { log: logOptions, isRead = true, ...others } = options
    const log = await openStore({ path, clock, fsync: 'never', ...logOptions })
    const gate = createGate()
    lives.push({ log, end: gate.shut })
    const matchmaker = createMatchmaker({
      deployments: gate.service(service.deployments),
      journal: gate.journal(journal),
      queues: [duel],
      clock,
      random,
      listLagMs: 4000,
      ticketLog: log,
      ...given,
      ...others,
    })
    const watching = watched(matchmaker)
    if (isRead) {
      void matchmaker.ready().catch(() => {})
      // By then it has read its journal, if that can be read.
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

  return {
    clock,
    service,
    journal,
    live,
    path: () => path,
    /** Kills the present process as kill -9 does: nothing of it is heard any more, and the files are as they are. */
    kill: () => {
      lives.at(-1)?.end()
      files += 1
      const next = join(folder, `tickets-${files}`)
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
