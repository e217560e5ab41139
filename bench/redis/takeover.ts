import { execFileSync } from 'node:child_process'
import { systemClock } from '@muster/core/clock'
import { startRedisServer } from '@muster/redis-server'
import { startMember, type Member } from './partition-fleet.js'
import { redisBytes } from './redis-use.js'

export interface TakeoverCase {
  readonly waiting: number
  /** Number of tickets that play, two in a match. */
  readonly playing: number
  readonly times: number
}

export interface Takeovers {
  /** Seconds from `kill -9` of the leader until players who came afterwards are matched and know their server. */
  readonly seconds: readonly number[]
  /** Seconds from when the next leader won the lease until it led. */
  readonly afterTheLease: readonly number[]
  readonly redisBytesPerTicket: number
  readonly standbyHeapPerTicket: number
  /** CPU microseconds of a standby to read everything, for each ticket. */
  readonly loadingUsPerTicket: number
  /** CPU microseconds of a leader that has nothing new to do, per second. */
  readonly idleUsPerSecond: number
}

/** CPU microseconds in a second below which a process is assumed to have loaded its tickets. */
const IDLE_US = 150_000
const AT_ONCE = 512

export async function measureTakeovers({ waiting, playing, times }: TakeoverCase): Promise<Takeovers> {
  const server = await startRedisServer()
  const follower = await startMember('follower', server.url)
  let leader = await startMember('leader', server.url)
  const empty = await startMember('standby', server.url)
  await settled(empty)
  const heapBefore = (await empty.report(true)).heapBytes
  await empty.kill()
  const bytesBefore = await redisBytes(server)
  if (playing > 0) await follower.ask<'over'>({ kind: 'work', prefix: 'playing', total: playing, atOnce: AT_ONCE })
  if (waiting > 0) await follower.ask<'over'>({ kind: 'stand', total: waiting })
  const bytes = (await redisBytes(server)) - bytesBefore

  const seconds: number[] = []
  const afterTheLease: number[] = []
  let loading = 0
  let heap = 0
  let idle = 0
  for (let nth = 0; nth < times; nth += 1) {
    const standby = await startMember('standby', server.url)
    loading += await settled(standby)
    heap += (await standby.report(true)).heapBytes - heapBefore
    await settled(leader)
    await systemClock.sleep(1000)
    idle += (await leader.report()).cpuUs
    const killedAt = systemClock.now()
    await leader.kill()
    await follower.ask<'over'>({ kind: 'work', prefix: `after${nth}-`, total: 2, atOnce: 2 })
    seconds.push((systemClock.now() - killedAt) / 1000)
    const { takeoverMs, tickets } = await standby.led
    if (tickets < waiting) throw new Error(`the next leader has ${tickets} of ${waiting} tickets`)
    afterTheLease.push(takeoverMs / 1000)
    leader = standby
  }
  await Promise.all([leader.kill(), follower.kill()])
  await server.close()
  const tickets = waiting + playing
  return {
    seconds,
    afterTheLease,
    redisBytesPerTicket: bytes / tickets,
    standbyHeapPerTicket: heap / times / tickets,
    loadingUsPerTicket: loading / times / tickets,
    idleUsPerSecond: idle / times,
  }
}

export interface Rivalry {
  /** Seconds from `kill -9` of the leader until players who came afterwards are matched and know their server. */
  readonly seconds: number
  /** How often a process has become the leader since then. */
  readonly changes: number
}

/** Measures a takeover for which several candidates compete. All of them, the follower and Redis share one core. */
export async function measureRivals(playing: number, candidates: number): Promise<Rivalry> {
  const server = await startRedisServer()
  const follower = await startMember('follower', server.url)
  const leader = await startMember('leader', server.url)
  await follower.ask<'over'>({ kind: 'work', prefix: 'playing', total: playing, atOnce: AT_ONCE })
  const standbys: Member[] = []
  for (let nth = 0; nth < candidates; nth += 1) standbys.push(await startMember('standby', server.url))
  for (const standby of standbys) await settled(standby)
  const pids = [server.pid, ...[follower, leader, ...standbys].map(({ child }) => child.pid ?? 0)]
  for (const pid of pids) execFileSync('taskset', ['-acp', '0', String(pid)], { stdio: 'ignore' })
  const killedAt = systemClock.now()
  await leader.kill()
  await follower.ask<'over'>({ kind: 'work', prefix: 'after-', total: 2, atOnce: 2 })
  const seconds = (systemClock.now() - killedAt) / 1000
  // If a rival took the lease from the new leader, it would do so within this time.
  await systemClock.sleep(5000)
  const changes = standbys.reduce((sum, standby) => sum + standby.terms(), 0)
  await Promise.all([follower, ...standbys].map((member) => member.kill()))
  await server.close()
  return { seconds, changes }
}

/** Resolves once the process has nothing to do, with the CPU time that it used until then. */
async function settled(member: Member): Promise<number> {
  for (let used = 0; ;) {
    await systemClock.sleep(1000)
    const { cpuUs } = await member.report()
    used += cpuUs
    if (cpuUs < IDLE_US) return used
  }
}
