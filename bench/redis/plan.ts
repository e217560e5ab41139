// pure: what this many players need, by figures that were measured
/** Measured: microseconds of CPU, and bytes. */
export interface Costs {
  readonly redisUs: number
  readonly leaderUs: number
  readonly standbyUs: number
  readonly followerUs: number
  /** Of a process that only hears of a ticket, in itself and in Redis. */
  readonly listenerUs: number
  readonly redisUsPerListener: number
  /** Of a leader, in a second, for each ticket that waits. */
  readonly waitingUsPerSecond: number
  readonly redisBytesWaiting: number
  readonly redisBytesPlaying: number
  readonly heapWaiting: number
  readonly heapPlaying: number
  /** From the death of a leader until the next one matches, and what each match that runs adds. */
  readonly takeoverS: number
  readonly takeoverUsPerMatch: number
}

export interface Crowd {
  readonly waiting: number
  /** Seconds that a ticket waits and that its match lasts, on average. */
  readonly waitS: number
  readonly matchS: number
  /** Tickets of a match. */
  readonly perMatch: number
}

/** Our choice, of what a machine gives. */
const BOUNDS = {
  /** Part of a core at which a process is full: bursts need the rest. */
  core: 0.6,
  redisBytes: 32e9,
  /** Heap of a process; Node wants `--max-old-space-size` for it. */
  heapBytes: 4e9,
}
/** One that fails must be no loss. */
const FEWEST_FOLLOWERS = 2

/** How much of each bound one partition uses; 1 is all of it. */
export interface Use {
  readonly 'CPU of Redis': number
  readonly 'memory of Redis': number
  readonly 'CPU of the leader': number
  readonly 'heap of the leader': number
  readonly 'CPU of a standby': number
  /** Of a follower's core, for hearing what happens at all other followers. */
  readonly 'changes heard by each follower': number
}

export interface Plan extends Crowd {
  readonly ticketsPerSecond: number
  readonly playing: number
  /** Servers that the service has to create and to run. */
  readonly createsPerSecond: number
  readonly servers: number
  /** What breaks if there is one partition, with the part of its bound that is used, the worst first. */
  readonly onePartition: readonly (readonly [what: keyof Use, times: number])[]
  readonly partitions: number
  /** What the last partition that was added was needed for. */
  readonly dividedFor: keyof Use | undefined
  readonly redisCores: number
  readonly redisGigabytes: number
  readonly frontsPerPartition: number
  /** From the death of a leader until the next one matches. */
  readonly takeoverS: number
  /** Leaders, a standby for each, and followers. */
  readonly processes: number
}

export function planOf(crowd: Crowd, costs: Costs): Plan {
  const ticketsPerSecond = crowd.waiting / crowd.waitS
  const playing = ticketsPerSecond * crowd.matchS
  let partitions = 1
  let dividedFor: keyof Use | undefined
  for (let worst = worstOf(crowd, costs, 1); worst[1] > 1; worst = worstOf(crowd, costs, partitions)) {
    dividedFor = worst[0]
    // Most of what is used is divided with the partition.
    partitions = Math.max(partitions + 1, Math.floor(partitions * Math.min(worst[1], 2)))
  }
  const { followers, redis } = partitionOf(crowd, costs, partitions)
  return {
    ...crowd,
    ticketsPerSecond,
    playing,
    createsPerSecond: ticketsPerSecond / crowd.perMatch,
    servers: playing / crowd.perMatch,
    onePartition: ranked(useOf(crowd, costs, 1)).filter(([, times]) => times > 0.1),
    partitions,
    dividedFor,
    redisCores: Math.ceil((redis * partitions) / BOUNDS.core),
    redisGigabytes: (crowd.waiting * costs.redisBytesWaiting + playing * costs.redisBytesPlaying) / 1e9,
    frontsPerPartition: followers,
    takeoverS: costs.takeoverS + (playing / crowd.perMatch / partitions) * (costs.takeoverUsPerMatch / 1e6),
    processes: partitions * (2 + followers),
  }
}

/** Followers of a partition, and cores of Redis that it uses. */
function partitionOf({ waiting, waitS }: Crowd, costs: Costs, partitions: number) {
  const perSecond = waiting / waitS / partitions
  // Each follower hears of all tickets, so what is left of its core for its own gets less with their number.
  const left = BOUNDS.core - (perSecond * costs.listenerUs) / 1e6
  const own = (perSecond * (costs.followerUs - costs.listenerUs)) / 1e6
  const followers = left <= 0 ? Infinity : Math.max(FEWEST_FOLLOWERS, Math.ceil(own / left))
  const listeners = Math.min(followers, 1000) + 1
  return { perSecond, followers, redis: (perSecond * (costs.redisUs + listeners * costs.redisUsPerListener)) / 1e6 }
}

function useOf(crowd: Crowd, costs: Costs, partitions: number): Use {
  const { perSecond, redis } = partitionOf(crowd, costs, partitions)
  const waiting = crowd.waiting / partitions
  const playing = perSecond * crowd.matchS
  return {
    'CPU of Redis': redis / BOUNDS.core,
    'memory of Redis': (waiting * costs.redisBytesWaiting + playing * costs.redisBytesPlaying) / BOUNDS.redisBytes,
    'CPU of the leader': (perSecond * costs.leaderUs + waiting * costs.waitingUsPerSecond) / 1e6 / BOUNDS.core,
    'heap of the leader': (waiting * costs.heapWaiting + playing * costs.heapPlaying) / BOUNDS.heapBytes,
    'CPU of a standby': (perSecond * costs.standbyUs) / 1e6 / BOUNDS.core,
    // Half of a follower's core is for its own players.
    'changes heard by each follower': (perSecond * costs.listenerUs) / 1e6 / (BOUNDS.core / 2),
  }
}

const ranked = (use: Use) =>
  (Object.entries(use) as [keyof Use, number][]).toSorted(([, one], [, other]) => other - one)

const worstOf = (crowd: Crowd, costs: Costs, partitions: number) =>
  ranked(useOf(crowd, costs, partitions))[0] as [keyof Use, number]
