import { ConnectionLost } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import type { CallFault } from '../service.fixture.js'
import type { AllocatedServer, ServerAllocator, WantedServer } from './server-allocator.js'

type Call = 'allocate' | 'poll' | 'stop'

interface TestAllocatorOptions {
  readonly clock: Pick<Clock, 'now'>
  /** Milliseconds from `allocate` until a server is ready. Default 2000. */
  readonly readyMs?: number
  /** Returns the error of a call, and whether the call has an effect anyway. Default: no error. */
  readonly fault?: ((call: Call, nth: number) => CallFault | undefined) | undefined
}

/** Creates a simulated allocator in memory, with a given clock and given faults. */
export function createTestAllocator({ clock, readyMs = 2000, fault = () => undefined }: TestAllocatorOptions) {
  const servers = new Map<string, { readonly wanted: WantedServer; readonly at: number; end?: 'failed' | 'ended' }>()
  /** Ids for which `stop` was called. `allocate` has no effect on them. */
  const stopped = new Set<string>()
  const garbled = new Set<string>()
  const calls: Record<Call, string[]> = { allocate: [], poll: [], stop: [] }

  const call = async <Answer>(kind: Call, what: string, act: () => Answer): Promise<Answer> => {
    calls[kind].push(what)
    const wrong = fault(kind, calls[kind].length)
    const error = wrong?.error ?? new ConnectionLost('the connection was lost', { sent: true })
    if (wrong !== undefined && wrong.effect !== true) throw error
    const answer = act()
    if (wrong !== undefined) throw error
    return answer
  }
  const stateOf = (id: string): AllocatedServer => {
    if (garbled.has(id)) return { id, status: 'odd' as AllocatedServer['status'] }
    const server = servers.get(id)
    if (stopped.has(id)) return { id, status: 'ended' }
    if (server === undefined) return { id, status: 'unknown' }
    if (server.end !== undefined) return { id, status: server.end, detail: 'exit code 1' }
    if (clock.now() < server.at + readyMs) return { id, status: 'starting' }
    return { id, status: 'ready', host: `${id}.example.com`, ports: { game: { port: 7777 } } }
  }

  const allocator: ServerAllocator = {
    allocate: (wanted) =>
      call('allocate', wanted.id, () => {
        if (!servers.has(wanted.id) && !stopped.has(wanted.id)) servers.set(wanted.id, { wanted, at: clock.now() })
      }),
    poll: (ids) => call('poll', ids.join(' '), () => ids.map(stateOf)),
    stop: (id) => call('stop', id, () => void stopped.add(id)),
  }
  return {
    allocator,
    calls,
    servers,
    /** Returns the ids of running servers. They would cost money for ever. */
    running: () => [...servers.keys()].filter((id) => !stopped.has(id) && servers.get(id)?.end === undefined),
    /** Makes all later polls return an invalid status for this server. */
    garble: (id: string) => void garbled.add(id),
    end: (id: string, how: 'failed' | 'ended') => {
      const server = servers.get(id)
      if (server !== undefined) server.end = how
    },
  }
}
