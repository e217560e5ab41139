import type { Clock } from '@muster/core/clock'
import type { Allocator } from './allocation/allocator.js'
import type { Backfills } from './backfill/backfills.js'
import type { Events } from './events.js'
import type { MatchLives } from './rosters/match-lives.js'
import type { Group, Rounds } from './rounds.js'
import type { Lane } from './tickets/lane.js'
import type { Tickets } from './tickets/tickets.js'

export interface Ticking {
  readonly tickets: Tickets
  readonly backfills: Backfills
  readonly rounds: Rounds
  readonly lives: MatchLives
  readonly allocator: Allocator
  readonly events: Events
  readonly clock: Clock
  readonly stopwatch: () => number
  /** Aborted when no more matches should be made. */
  readonly closing: AbortSignal
}

export interface Tick {
  /** The matchmaker's main path: admit → group → claim → allocate. */
  all(): Promise<void>
  /** The same for tickets that came into one queue. */
  arrived(lane: Lane): Promise<void>
}

/** From the end of grouping to claim nothing is waited for, and who was grouped is looked at again when claimed. */
export function createTick(ticking: Ticking): Tick {
  const { tickets, backfills, rounds, lives, allocator, events, clock, stopwatch, closing } = ticking
  /** One at a time: a round in parts is one round. */
  let grouping: Promise<unknown> = Promise.resolve()

  const admit = (now: number) => {
    tickets.removeEnded(now)
    backfills.removeEnded(now)
    tickets.advance(now)
    lives.advance(now)
    allocator.advance(now)
  }

  const group = (now: number): Promise<Group[]> => {
    const groups = grouping.then(() => rounds.next(now))
    grouping = groups.catch(() => {})
    return groups
  }

  /** The more important and those who wait longest get the next server, whatever their queue. Gives those for whom there is none. */
  const claim = (groups: readonly Group[], mayDeploy: boolean, now: number): { readonly begun: Promise<void>[]; readonly short: Group[] } => {
    let room = mayDeploy ? lives.room(now) : 0
    const begun: Promise<void>[] = []
    const short: Group[] = []
    for (const one of groups.toSorted((a, b) => b.priority - a.priority || a.oldest - b.oldest)) {
      if (closing.aborted) break
      if (one.backfill !== undefined) {
        lives.join(one, now)
      } else if (room <= 0) {
        short.push(one)
      } else {
        const beginning = lives.begin(one, now)
        if (beginning === undefined) continue
        begun.push(beginning)
        room -= 1
      }
    }
    for (const { records } of groups) tickets.release(records, now)
    return { begun, short }
  }

  return {
    all: async () => {
      const startedAt = stopwatch()
      const recovered = await allocator.recover()
      admit(clock.now())
      const groups = await group(clock.now())
      const { begun, short } = claim(groups, recovered, clock.now())
      tickets.shortOfServers(short.flatMap(({ records }) => records))
      events.emit('ticked', { durationMs: stopwatch() - startedAt, matches: begun.length })
      await Promise.all(begun)
    },

    arrived: async (lane) => {
      if (!(await allocator.recover())) return
      await Promise.all(claim(rounds.ofArrived(lane, clock.now()), true, clock.now()).begun)
    },
  }
}
