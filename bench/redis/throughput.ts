import { startRedisServer } from '@muster/redis-server'
import { startMember, type Member } from './partition-fleet.js'
import { redisCpuUs } from './redis-use.js'

/** Number of tickets whose CPU time is measured, after as many for warming up, and how many are in progress at once. */
const WORK = { total: 40_000, atOnce: 512 }

/** CPU microseconds for each ticket, from its creation until its player knows the server. */
export interface CpuPerTicket {
  readonly redis: number
  readonly leader: number
  /** CPU time of the process that creates the ticket, and waits for its assignment. */
  readonly follower: number
  readonly standby: number
  /** CPU time of each process that only follows the ticket's changes. */
  readonly listener: number
}

/**
 * Measures the CPU time of a ticket. @param listeners number of further processes, in addition to a follower, a leader
 * and a standby.
 */
export async function measureCpu(listeners: number): Promise<CpuPerTicket> {
  const server = await startRedisServer()
  const leader = await startMember('leader', server.url)
  const standby = await startMember('standby', server.url)
  const follower = await startMember('follower', server.url)
  const others: Member[] = []
  for (let nth = 0; nth < listeners; nth += 1) others.push(await startMember('follower', server.url))
  const all = [leader, standby, follower, ...others]
  await work(follower, 'warm')
  await Promise.all(all.map((one) => one.report()))
  const before = await redisCpuUs(server)
  await work(follower, 't')
  const redis = (await redisCpuUs(server)) - before
  const used = await Promise.all(all.map((one) => one.report()))
  await Promise.all(all.map((one) => one.kill()))
  await server.close()
  const [led = 0, stoodBy = 0, served = 0, ...heard] = used.map(({ cpuUs }) => cpuUs / WORK.total)
  const listener = heard.reduce((sum, one) => sum + one, 0) / Math.max(1, listeners)
  return { redis: redis / WORK.total, leader: led, follower: served, standby: stoodBy, listener }
}

/** Measures the CPU microseconds of a ticket with a matchmaker in memory. */
export async function measureCpuInMemory(): Promise<number> {
  const memory = await startMember('memory')
  await work(memory, 'warm')
  await memory.report()
  await work(memory, 't')
  const { cpuUs } = await memory.report()
  await memory.kill()
  return cpuUs / WORK.total
}

const work = (member: Member, prefix: string) => member.ask<'over'>({ kind: 'work', prefix, ...WORK })
