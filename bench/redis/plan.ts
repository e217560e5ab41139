// pure: what a number of players needs, computed from measured costs
/** Measured costs, in microseconds of CPU time and in bytes. */
export interface Costs {
  readonly redisUs: number
  readonly leaderUs: number
  readonly standbyUs: number
  readonly followerUs: number
  /** Cost of a ticket for each process that only follows its changes: in that process, and in Redis. */
  readonly listenerUs: number
  readonly redisUsPerListener: number
  /** Cost of each waiting ticket for the leader, in microseconds per second. */
  readonly waitingUsPerSecond: number
  readonly redisBytesWaiting: number
  readonly redisBytesPlaying: number
  readonly heapWaiting: number
  readonly heapPlaying: number
  /** Seconds from the death of a leader until the next one matches, and the addition for each running match. */
  readonly takeoverS: number
  readonly takeoverUsPerMatch: number
}

export interface Crowd {
  readonly waiting: number
  /** Average seconds that a ticket waits, and that its match lasts. */
  readonly waitS: number
  readonly matchS: number
  /** Number of tickets of a match. */
  readonly perMatch: number
}

/** Usable limits of a machine (our choice). */
const BOUNDS = {
  /** Share of a core at which a process counts as full. Bursts need the rest. */
  core: 0.6,
  redisBytes: 32e9,
  /** Bytes of a process's heap. Node.js needs `--max-old-space-size` for it. */
  heapBytes: 4e9,
}
/** Minimum number of followers, so that the failure of one does no harm. */
const FEWEST_FOLLOWERS = 2

/** Used share of each limit by one partition. 1 is the whole limit. */
export interface Use {
  readonly 'CPU of Redis': number
  readonly 'memory of Redis': number
  readonly 'CPU of the leader': number
  readonly 'heap of the leader': number
  readonly 'CPU of a standby': number
  /** Share of a follower's core for following the changes of all other followers. */
  readonly 'changes heard by each follower': number
}

export interface Plan extends Crowd {
  readonly ticketsPerSecond: number
  readonly playing: number
  /** Number of servers that the service must create per second, and that it must run. */
  readonly createsPerSecond: number
  readonly servers: number
  /** The limits that one partition would exceed, with the used share of each, the highest first. */
  readonly onePartition: readonly (readonly [what: keyof Use, times: number])[]
  readonly partitions: number
  /** The limit that required the last additional partition. */
  readonly dividedFor: keyof Use | undefined
  readonly redisCores: number
  readonly redisGigabytes: number
  readonly frontsPerPartition: number
  /** Seconds from the death of a leader until the next one matches. */
  readonly takeoverS: number
  /** Number of processes: leaders, a standby for each, and followers. */
  readonly processes: number
}

export function planOf(crowd: Crowd, costs: Costs): Plan {
  const ticketsPerSecond = crowd.waiting / crowd.waitS
  const playing = ticketsPerSecond * crowd.matchS
  let partitions = 1
  let dividedFor: keyof Use | undefined
  for (let worst = worstOf(crowd, costs, 1); worst[1] > 1; worst = worstOf(crowd, costs, partitions)) {
    dividedFor = worst[0]
    // Most of the load is divided among the partitions.
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

/** Returns the number of followers of a partition, and the cores of Redis that it uses. */
function partitionOf({ waiting, waitS }: Crowd, costs: Costs, partitions: number) {
  const perSecond = waiting / waitS / partitions
  // Each follower follows the changes of all tickets. With more tickets, less of its core remains for its own players.
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
    // Half of a follower's core is reserved for its own players.
    'changes heard by each follower': (perSecond * costs.listenerUs) / 1e6 / (BOUNDS.core / 2),
  }
}

const ranked = (use: Use) =>
  (Object.entries(use) as [keyof Use, number][]).toSorted(([, one], [, other]) => other - one)

const worstOf = (crowd: Crowd, costs: Costs, partitions: number) =>
  ranked(useOf(crowd, costs, partitions))[0] as [keyof Use, number]
