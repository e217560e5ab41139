import { startRedisServer } from '@muster/redis-server'
import { startMember, type Member } from './partition-fleet.js'
import { redisCpuUs } from './redis-use.js'

/** Tickets of which the CPU is measured, after as many that are not, and how many are under way at once. */
const WORK = { total: 40_000, atOnce: 512 }

/** Microseconds of CPU per ticket, from its creation until its player knows the server. */
export interface CpuPerTicket {
  readonly redis: number
  readonly leader: number
  /** Of the one that creates, and waits for the assignment. */
  readonly follower: number
  readonly standby: number
  /** Of each process that only hears of it. */
  readonly listener: number
}

/** @param listeners processes beside one follower, a leader and a standby. */
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

/** The same of a matchmaker in memory. */
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
