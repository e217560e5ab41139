import { startRedisServer } from '@muster/redis-server'
import { startMember } from './partition-fleet.js'

/** Tickets per second. */
export const RATE = 2000
const WARM_UP_S = 4
const MEASURED_S = 10

/**
 * Measures the milliseconds from `createTicket` in one process until another process knows the server's address, while
 * a third process matches. A ticket that is never assigned counts as an endless wait.
 */
export async function measureLatency(): Promise<{ readonly p50: number; readonly p99: number }> {
  const server = await startRedisServer()
  const leader = await startMember('leader', server.url)
  const creating = await startMember('follower', server.url)
  const waiting = await startMember('follower', server.url)
  const { port } = await waiting.ask<'listening'>({ kind: 'listen' })
  const create = (prefix: string, seconds: number) =>
    creating.ask<'over'>({ kind: 'create', prefix, rate: RATE, seconds, port })
  await create('warm', WARM_UP_S)
  await waiting.report()
  await create('t', MEASURED_S)
  const { assignedMs } = await waiting.report()
  await Promise.all([leader, creating, waiting].map((one) => one.kill()))
  await server.close()
  const sorted = assignedMs.toSorted((one, other) => one - other)
  const at = (part: number) => sorted[Math.floor(RATE * MEASURED_S * part)] ?? Infinity
  return { p50: at(0.5), p99: at(0.99) }
}
