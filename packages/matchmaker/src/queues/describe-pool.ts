import { ENROLLED, type Enrolment, lossShare, meanIdle, mostWarm, type Pool, stockFor } from '@muster/hosting/internal'
import { counted, digits, duration, listed, sentence } from './rule-parts/index.js'

/** The load on a pool. */
export interface PoolLoad {
  /** In all places together, spread evenly over places and time. */
  readonly matchesPerHour: number
  /** Seconds from the create of a server until it has registered. */
  readonly bootSeconds: number
  readonly matchSeconds: number
}

/** The effect and cost of a load on a pool. */
export interface PoolCost extends PoolLoad {
  /** Servers kept warm, including those that boot. */
  readonly warm: number
  /** Share of matches that find a warm server, by Erlang's loss formula. Reused servers raise it further. */
  readonly hit: number
  /** Average number of idle servers. */
  readonly idle: number
  /** Average number of running matches. */
  readonly playing: number
  /** Create requests for each match. */
  readonly createsPerMatch: number
}

/**
 * Computes the effect of a load on a pool. Schedules are ignored. Enrolled servers are not created, so a pool of these
 * keeps no stock.
 */
export function poolCost(pool: Omit<Pool, 'enrol'>, load: PoolLoad): PoolCost {
  const { places, reuse, source } = pool
  const warm = source === ENROLLED ? undefined : pool.warm
  const count = places?.length ?? 1
  const { bootSeconds, matchSeconds } = load
  const rate = load.matchesPerHour / 3600 / count
  const place = { rate, bootSeconds, matchSeconds }
  const most = mostWarm(pool)
  const goal = warm === undefined ? 0 : stockFor(place, { ...warm, max: most })
  // The pool's limit is distributed place by place.
  const stocks = Array.from({ length: count }, (_, index) => Math.max(0, Math.min(goal, most - index * goal)))
  const sum = (of: (stock: number) => number) => stocks.reduce((total, stock) => total + of(stock), 0)
  const offered = rate * bootSeconds
  return {
    ...load,
    warm: sum((stock) => stock),
    hit: sum((stock) => (stock === 0 ? 0 : 1 - lossShare(stock, offered))) / count,
    idle: sum((stock) => (stock === 0 ? 0 : meanIdle(stock, offered))),
    playing: rate * count * matchSeconds,
    createsPerMatch: source === ENROLLED ? 0 : 1 / reuse.maxMatches,
  }
}

const percent = (share: number) => `${digits(Math.round(share * 1000) / 10)} %`

/** A pool without the secrets of its enrolment keys. */
export type DescribedPool = Omit<Pool, 'enrol'> & { readonly enrol: readonly Omit<Enrolment, 'key'>[] }

/** Describes a pool in plain English, one statement a sentence. Values of variables are left out. */
export function describePool(pool: DescribedPool): readonly string[] {
  const { source, enrol, deploy, places, warm, reuse, keepIdleSeconds, detourMs, at, custom } = pool
  /**
   * False for a pool of enrolled servers only: no servers are created for it, so it has no stock and no surplus to
   * stop.
   */
  const creates = source !== ENROLLED
  const canBeIdle = warm !== undefined || at.length > 0 || reuse.maxMatches > 1 || custom !== undefined
  const where = places === undefined ? 'where matches were' : `at ${listed(places.map(({ name }) => name))}`
  const age =
    reuse.maxAgeMinutes === undefined
      ? ''
      : `, and takes none ${duration(reuse.maxAgeMinutes * 60_000)} after its create`
  return [
    creates
      ? `its servers run ${deploy.application}, version ${deploy.version}`
      : 'nothing is deployed: its servers come by themselves, and while all are taken, players wait',
    ...(source === undefined || !creates
      ? []
      : [
          `they come from the source ${source}, which chooses the place; ` +
            'where it has no capacity, it is asked nowhere else',
        ]),
    ...enrol.map(
      ({ place, max, matches, knock }) =>
        `${counted(max, 'server')} of your own at ${place} at most may add ${max === 1 ? 'itself' : 'themselves'} ` +
        `with a key, each for ${counted(matches, 'match', 'matches')} at a time at most` +
        (knock === undefined ? '' : `, once it has proved to be at its port ${knock.port}`),
    ),
    ...(!creates
      ? []
      : warm === undefined
        ? [`no server is kept warm${at.length === 0 ? '' : ', but for the times below'}`]
        : [
            `servers are kept warm ${where}, so that ${percent(warm.hit)} of matches find one; ` +
              `${counted(warm.max, 'server')} at most`,
            `a place keeps none if its idle servers would be more than ${percent(warm.maxIdleShare)} ` +
              'of its playing ones',
          ]),
    ...(!creates || warm?.perHour === undefined
      ? []
      : [`${digits(warm.perHour)} idle server-hours an hour are paid at most`]),
    `a server serves ${counted(reuse.maxMatches, 'match', 'matches')}${age}`,
    ...(creates && canBeIdle
      ? [`a server without a match is kept for ${duration(keepIdleSeconds * 1000)} although there are enough`]
      : []),
    ...(!canBeIdle
      ? []
      : [
          'a match takes a warm server whose round trip is at most ' +
            `${digits(detourMs)} ms longer than that of the best place`,
        ]),
    ...(creates ? at : []).map(
      ({ cron, timezone, minutes, hit, min }) =>
        `from ${cron} (${timezone}), for ${duration(minutes * 60_000)}, ${listed([
          ...(min === undefined
            ? []
            : [`${counted(min, 'server')} at least ${min === 1 ? 'is' : 'are'} warm at each place`]),
          ...(hit === undefined ? [] : [`${percent(hit)} of matches are to find one, whatever stays idle`]),
        ])}`,
    ),
    ...(custom === undefined
      ? []
      : [
          `a player may start ${counted(custom.perPlayer, 'server')} at a time; ` +
            `${counted(custom.max, 'server')} of the pool at most are listed`,
          `a listed server without a player is kept for ${duration(custom.emptySeconds * 1000)}`,
        ]),
  ].map(sentence)
}

/** Describes a load on a pool and its cost in one sentence. */
export function poolCostSentence(cost: PoolCost): string {
  const { matchesPerHour, bootSeconds, matchSeconds, warm, hit, idle, playing, createsPerMatch } = cost
  const load =
    `with ${digits(matchesPerHour)} matches an hour of ${duration(matchSeconds * 1000)} each, and boots of ` +
    duration(bootSeconds * 1000)
  const creates = `${digits(Math.round(createsPerMatch * 1000) / 1000)} create requests a match`
  if (warm === 0) return sentence(`${load}, no server is kept warm; ${creates}`)
  const share = playing === 0 ? '' : `, ${percent(idle / playing)} of the ${digits(Math.round(playing))} that play`
  return sentence(
    `${load}, ${counted(warm, 'server')} ${warm === 1 ? 'is' : 'are'} kept warm: ${percent(hit)} of matches ` +
      `find one, and ${digits(Math.round(idle * 10) / 10)} are idle on average${share}; ${creates}`,
  )
}
