import type { Clock } from '@muster/core/clock'
import { createHttpAllocator, type HttpAllocator } from '@muster/matchmaker/internal'
import type { Config } from '../config/index.js'

/** The sources of servers besides the service, by name. */
export interface OpenSources {
  readonly [name: string]: HttpAllocator
}

/** Opens nothing before the first call of a source. */
export function openSources({ sources }: Pick<Config, 'sources'>, clock: Clock): OpenSources {
  const opened = Object.entries(sources).map(([name, { allocator: url, secret, timeoutMs, lagMs }]) => [
    name,
    createHttpAllocator({ url, secret: secret.reveal(), timeoutMs, lagMs, clock }),
  ])
  return Object.fromEntries(opened)
}

export async function closeSources(sources: OpenSources): Promise<void> {
  await Promise.all(Object.values(sources).map((source) => source.close()))
}
