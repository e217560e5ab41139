import { once } from 'node:events'
import { onTestFinished } from 'vitest'
import { startRedisServer } from '@muster/redis-server'
import type { ServerSeen } from './partition-witness.js'
import { endAll, start, type Victim } from './processes.js'
import { createProxy } from './proxy.js'

export interface ServiceSeen {
  readonly deployments: readonly ServerSeen[]
  /** Requests over a limit, by its name. */
  readonly rejected: Readonly<Record<string, number>>
}

export interface Answer<T = unknown> {
  readonly answer?: T
  /** Name of the error. */
  readonly error?: string
}

/** What `partition-process.mjs` is told besides where the service and Redis are. */
export type Given = Readonly<Record<string, unknown>>

/** A Redis, a service, and processes of one partition. */
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
  /** How often a process came to lead. */
  const counts = { terms: 0 }
  const hear = (of: () => Victim) => (message: { readonly kind: string }) => {
    if (message.kind === 'unhandled') unhandled.push(message)
    if (message.kind === 'leading') {
      counts.terms += 1
      leaders.add(of())
    }
    if (message.kind === 'following') leaders.delete(of())
  }
  /** Every second process reaches Redis by a proxy that can be cut. */
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
  /** What a process answers; undefined if it does not. */
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
