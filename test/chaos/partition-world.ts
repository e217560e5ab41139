import { once } from 'node:events'
import { onTestFinished } from 'vitest'
import { startRedisServer } from '@muster/redis-server'
import type { ServerSeen } from './partition-witness.js'
import { endAll, start, type Victim } from './processes.js'
import { createProxy } from './proxy.js'

export interface ServiceSeen {
  readonly deployments: readonly ServerSeen[]
  /** Number of requests above each rate limit, by its name. */
  readonly rejected: Readonly<Record<string, number>>
}

export interface Answer<T = unknown> {
  readonly answer?: T
  /** Name of the error. */
  readonly error?: string
}

/** Arguments of `partition-process.mjs` besides the addresses of the service and of Redis. */
export type Given = Readonly<Record<string, unknown>>

/** Starts a Redis, a service, and processes of one partition. */
export async function openWorld(seed = 1) {
  const redis = await startRedisServer({ appendOnly: 'everysec' })
  const proxy = await createProxy(redis.url)
  onTestFinished(async () => {
    endAll()
    await proxy.close()
    await redis.close()
  })
  const unhandled: unknown[] = []
  const service = start('service-process.mjs', { seed })
  const { url } = await service.first<{ url: string }>('listening')
  const leaders = new Set<Victim>()
  /** `terms`: number of times that a process became the leader. */
  const counts = { terms: 0 }
  const hear = (of: () => Victim) => (message: { readonly kind: string }) => {
    if (message.kind === 'unhandled') unhandled.push(message)
    if (message.kind === 'leading') {
      counts.terms += 1
      leaders.add(of())
    }
    if (message.kind === 'following') leaders.delete(of())
  }
  /** Every second process connects to Redis through a proxy that can be cut. */
  let made = 0
  const begin = async (given: Given = {}): Promise<Victim> => {
    made += 1
    const redisUrl = made % 2 === 0 ? proxy.url.replace('http', 'redis') : redis.url
    const one: Victim = start(
      'partition-process.mjs',
      { url, redisUrl, ...given },
      hear(() => one),
    )
    await one.first('started')
    return one
  }
  let asked = 0
  /** Sends a command to a process. Resolves with undefined if the process does not answer. */
  const ask = async <T = never>(
    one: Victim,
    method: string,
    ...input: readonly unknown[]
  ): Promise<Answer<T> | undefined> => {
    asked += 1
    const message = { nth: asked, method, input }
    const answer = one.ask<Answer<T>>(message, `answer ${asked}`, 8000).catch(() => undefined)
    const { process } = one
    if (process.exitCode !== null || process.signalCode !== null) return undefined
    return Promise.race([answer, once(process, 'exit').then(() => undefined)])
  }
  const servers = () => service.ask<ServiceSeen>({}, 'deployments')
  return { redis, proxy, begin, ask, servers, leaders, counts, unhandled }
}
