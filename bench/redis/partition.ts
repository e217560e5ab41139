import { atMost, median, type Figures } from '../figure.js'
import { measureLatency, RATE } from './latency.js'
import { planOf, type Costs, type Plan } from './plan.js'
import { measureRivals, measureTakeovers } from './takeover.js'
import { measureCpu, measureCpuInMemory } from './throughput.js'

const WAITING = 100_000
/** Number of tickets that play, two in a match. */
const PLAYING = 20_000
const MATCHES = PLAYING / 2
/** Number of tickets that play while several candidates compete for the lease on one core. */
const PLAYING_WITH_RIVALS = 60_000
const CANDIDATES = 3
const TAKEOVERS = 10
const LISTENERS = 4
/** Seconds that players wait, seconds that a match lasts, and number of its players. */
const WAIT_S = 60
const MATCH_S = 900
const PER_MATCH = 10
const CROWDS = [100_000, 1_000_000, 10_000_000]

/**
 * Measures a partition: how soon players get their server's address, at what cost, and how soon another process leads.
 * Computes what a large number of players needs.
 */
export async function partitionFigures(): Promise<Figures> {
  const { p50, p99 } = await measureLatency()
  const memoryUs = await measureCpuInMemory()
  const cpu = await measureCpu(0)
  const oursUs = cpu.follower + cpu.leader
  const heard = await measureCpu(LISTENERS)
  const waiting = await measureTakeovers({ waiting: WAITING, playing: 0, times: TAKEOVERS })
  const playing = await measureTakeovers({ waiting: 0, playing: PLAYING, times: 3 })

  const rivals = await measureRivals(PLAYING_WITH_RIVALS, CANDIDATES)

  const longest = Math.max(...waiting.seconds)
  const costs: Costs = {
    redisUs: cpu.redis,
    leaderUs: cpu.leader,
    standbyUs: cpu.standby,
    followerUs: cpu.follower,
    listenerUs: heard.listener,
    redisUsPerListener: Math.max(0, heard.redis - cpu.redis) / LISTENERS,
    waitingUsPerSecond: waiting.idleUsPerSecond / WAITING,
    redisBytesWaiting: waiting.redisBytesPerTicket,
    redisBytesPlaying: playing.redisBytesPerTicket,
    heapWaiting: waiting.standbyHeapPerTicket,
    heapPlaying: playing.standbyHeapPerTicket,
    takeoverS: longest,
    takeoverUsPerMatch: (Math.max(0, median(playing.seconds) - median(waiting.seconds)) / MATCHES) * 1e6,
  }
  const crowds = CROWDS.map((count) => ({ waiting: count, waitS: WAIT_S, matchS: MATCH_S, perMatch: PER_MATCH }))
  const plans = crowds.map((crowd) => planOf(crowd, costs))
  const known = `partition, ${RATE} tickets/s, from createTicket until another process knows the assignment`
  const taken = `partition, ${WAITING} waiting, from kill -9 of the leader until players are matched again`
  const among = `partition, ${PLAYING_WITH_RIVALS / 2} matches run, ${CANDIDATES} candidates on one core`
  return {
    figures: [
      atMost(`${known}: p50`, p50, 5, 'ms'),
      atMost(`${known}: p99`, p99, 50, 'ms'),
      atMost('partition: CPU of follower and leader, of that in memory', oursUs / memoryUs, 1.5, 'times'),
      atMost(`${taken}: the longest of ${TAKEOVERS}`, longest, 2, 's'),
      atMost(`${among}: from kill -9 of the leader until players are matched again`, rivals.seconds, 3, 's'),
      atMost(`${among}: changes of leader`, rivals.changes, 1, 'times'),
    ],
    peers: {
      partition: rounded({
        'µs of CPU per ticket': { ...cpu, listener: heard.listener, 'in memory': memoryUs },
        'takeovers, s': waiting.seconds,
        'of that until the tickets are up to date, after the lease was won, s': waiting.afterTheLease,
        [`takeovers with ${PLAYING} playing instead, s`]: playing.seconds,
        'µs of CPU to load a ticket': waiting.loadingUsPerTicket,
        costs,
      }),
      [`plan, ${WAIT_S} s of waiting, matches of ${PER_MATCH} that last ${MATCH_S} s`]: plans.map(rowOf),
      'plan in detail': rounded(plans),
    },
  }
}

/** Returns a line of the table. */
function rowOf(plan: Plan): string {
  const first = plan.onePartition[0]
  const alone = first === undefined ? 'nothing near its bound' : `${first[0]} ${first[1].toPrecision(2)} of its bound`
  return [
    `${plan.waiting} waiting, ${Math.round(plan.ticketsPerSecond)} tickets/s`,
    `in one partition: ${alone}`,
    `${plan.partitions} partitions`,
    `${plan.redisCores} cores and ${plan.redisGigabytes.toPrecision(2)} GB of Redis`,
    `${plan.processes} processes`,
    `${Math.round(plan.createsPerSecond)} creates/s, ${Math.round(plan.servers)} servers`,
    `takeover ${plan.takeoverS.toPrecision(2)} s`,
  ].join(' | ')
}

/** Rounds each number inside a value to three digits. */
function rounded<T>(value: T): T {
  return JSON.parse(
    JSON.stringify(value, (_, one: unknown) => (typeof one === 'number' ? Number(one.toPrecision(3)) : one)),
  ) as T
}
