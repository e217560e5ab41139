import { join } from 'node:path'
import type { Clock } from '@muster/core/clock'
import { createHttpAllocator, createLocalAllocator, type ServerAllocator } from '@muster/matchmaker/internal'
import type { Config } from '../config/index.js'

/** The sources of servers other than the deployment service, by name. */
export interface OpenSources {
  readonly [name: string]: ServerAllocator & { close(): Promise<void> }
}

/** Opens the configured sources. A source does nothing before its first call. */
export function openSources(config: Pick<Config, 'sources' | 'name' | 'store'>, clock: Clock): OpenSources {
  return Object.fromEntries(Object.entries(config.sources).map(([name, given]) => [name, open(name, given)]))

  function open(name: string, { allocator: url = '', secret, timeoutMs, lagMs, launch }: Config['sources'][string]) {
    if (launch === undefined)
      return createHttpAllocator({ url, secret: secret?.reveal() ?? '', timeoutMs, lagMs, clock })
    // The folder contains the name of this Muster, so that each Muster has its own. With the store in memory, nothing
    // knows the servers after this process ends, so the source ends them.
    const own = { state: join(launch.state, `${config.name}.${name}`), endsServers: config.store.kind === 'memory' }
    return createLocalAllocator({ ...launch, ...own, clock })
  }
}

export async function closeSources(sources: OpenSources): Promise<void> {
  await Promise.all(Object.values(sources).map((source) => source.close()))
}
