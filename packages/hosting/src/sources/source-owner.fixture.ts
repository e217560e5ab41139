import type { ManualClock } from '@muster/core/clock'
import type { ServerSource, SourceListener } from './source.js'
import type { SourceWorld } from './source-world.fixture.js'

interface Owned {
  readonly id: string
  /** `over`: the source has confirmed the server's stop, or there is no such server. */
  phase: 'sent' | 'lost' | 'known' | 'ready' | 'over'
  handle: string | undefined
  isWanted: boolean
  /** Number of times that the source has reported the server's end. It must not exceed 1. */
  ends: number
}

const OSLO = { latitude: 59.9, longitude: 10.7 }
const STEP_MS = 500

/** Creates a minimal allocator, which follows a source's servers and stops those that are not wanted. */
export function createOwner(world: SourceWorld, clock: ManualClock) {
  const servers = new Map<string, Owned>()
  let source: ServerSource
  let process = 0

  const over = (server: Owned) => {
    server.phase = 'over'
    server.ends += 1
    source.ended(server.id)
  }
  const stopNow = (server: Owned, handle: string, isIts = true) => {
    let isConfirmed = false
    const confirmed = () => {
      // A source must confirm a stop only once. A further confirmation counts as another end, so that the test fails.
      if (isConfirmed) server.ends += 1
      isConfirmed = true
      if (isIts && server.phase !== 'over') over(server)
    }
    source.stop({ handle, knownAt: clock.now(), by: server, confirmed })
  }
  /** Called when the server's handle is known. */
  const known = (server: Owned, handle: string) => {
    server.handle = handle
    server.phase = 'known'
    source.found(server.id)
    if (server.isWanted) source.follow(handle, 'game')
    else stopNow(server, handle)
  }
  const find = (server: Owned, isAwaited: boolean) => {
    server.phase = 'lost'
    source.find({ id: server.id, lostAt: clock.now(), isAwaited })
  }
  const withHandle = (handle: string) => [...servers.values()].find((server) => server.handle === handle)

  const listener = (of: number): SourceListener => ({
    changed: (change) => {
      const server = withHandle(change.handle)
      if (of !== process || server === undefined || server.phase === 'over') return
      if (change.kind === 'ready') {
        server.phase = 'ready'
        source.settle(change.handle)
      } else stopNow(server, change.handle)
    },
    seen: (ids, handle) => {
      if (of !== process) return true
      const server = ids.map((id) => servers.get(id)).find((one) => one !== undefined)
      if (server === undefined || server.phase === 'over') return false
      if (server.handle === undefined) known(server, handle)
      else if (server.handle !== handle) stopNow(server, handle, false)
      return true
    },
    absent: (id) => {
      const server = servers.get(id)
      if (of === process && server?.phase === 'lost') over(server)
    },
    isReporting: () => false,
    late: () => {},
    reaped: () => {},
    answered: () => {},
    unanswered: () => {},
    stopped: () => {},
    unstopped: () => {},
    problem: () => {},
  })
  source = world.open(listener(process))

  const create = async (id: string) => {
    if (servers.has(id)) return
    const server: Owned = { id, phase: 'sent', handle: undefined, isWanted: true, ends: 0 }
    servers.set(id, server)
    const by = process
    const deploy = { application: 'game', version: '1', tags: [] }
    const send = source.prepare({ id, deploy, environment: [], token: 't', at: OSLO, players: [], cachedOnly: false })
    const outcome = await send()
    // The process that sent the create has been replaced meanwhile.
    if (by !== process) return
    if (outcome.kind === 'created') known(server, outcome.handle)
    else if (outcome.kind === 'lost') find(server, true)
    else over(server)
  }
  const stop = (id: string) => {
    const server = servers.get(id)
    if (server === undefined || !server.isWanted) return
    server.isWanted = false
    if (server.handle !== undefined && server.phase !== 'over') stopNow(server, server.handle)
  }
  /** Replaces the process by another one, which has only the stored facts. */
  const restart = () => {
    source.close()
    process += 1
    source = world.open(listener(process))
    for (const server of servers.values()) {
      if (server.phase === 'over') source.ended(server.id)
      else if (server.handle === undefined) find(server, false)
      else known(server, server.handle)
    }
  }
  /** Lets time pass. @param done returns true to stop early */
  const run = async (ms: number, done = () => false) => {
    for (let passed = 0; passed < ms && !done(); passed += STEP_MS) {
      source.watch(clock.now())
      source.advance(clock.now())
      await world.settle()
      await clock.advance(STEP_MS)
      await world.settle()
    }
  }
  return {
    servers,
    create,
    stop,
    restart,
    run,
    stopAll: () => {
      for (const id of servers.keys()) stop(id)
    },
    isOver: () => [...servers.values()].every(({ phase }) => phase === 'over'),
    stopsPending: () => source.stopsPending(),
    close: () => source.close(),
  }
}
