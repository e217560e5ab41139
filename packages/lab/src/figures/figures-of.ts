// pure: what is told of a run
import type { Queue } from '@muster/matchmaker'
import type { Crowd } from '../crowd/crowd.js'
import type { RunOutcome, ServerUse } from '../run/outcome.js'
import { rounded } from '../statistics/spread.js'
import { expansionsOf } from './expansion.js'
import { fairnessOf } from './fairness.js'
import type { Figures, QueueFigures, ServerFigures } from './figures.js'
import { matchFigures } from './match-figures.js'
import { measureMatches, type Teams } from './measure-matches.js'
import { refusalsOf } from './refusals.js'
import { seatsOf, type Seats } from './seats.js'
import { bandsOf, scaleOf, skillsOf, type SkillScale } from './skill.js'
import { sliceOf, slicesOf } from './slice.js'

export interface FiguresOptions {
  /** The queues of the run, as `defineQueue` returns them. */
  readonly queues: readonly Queue[]
  /** The number attribute that is a player's skill where the true one is not known. Default `skill`. */
  readonly skillAttribute?: string | undefined
  /** What a difference of skill means. Default: mean and standard deviation of the crowd's skill. */
  readonly skillScale?: SkillScale | undefined
  /** Price of a server. Default: no cost is told. */
  readonly price?: { readonly perMinute: number; readonly currency: string } | undefined
}

/** Tells of a run. Time grows with the players in tickets; half a second for a quarter of a million. */
export function figuresOf(crowd: Crowd, outcome: RunOutcome, options: FiguresOptions): Figures {
  const { queues, skillAttribute = 'skill', price } = options
  const skills = skillsOf(crowd, skillAttribute)
  const skillBands = bandsOf(skills)
  const seats = seatsOf(crowd, outcome, skillBands, skillAttribute)
  const teams = measureMatches(crowd, outcome, seats, options.skillScale ?? scaleOf(skills))
  const { region, partySize, skillBand } = seats.groups
  const slices = (groups: typeof region) => slicesOf(groups, seats, outcome)
  return {
    all: sliceOf(
      Int32Array.from({ length: seats.count }, (_, seat) => seat),
      seats,
      outcome,
    ),
    by: {
      queue: Object.fromEntries(
        queues.map(({ name }) => [name, sliceOf(waitedIn(name, crowd, outcome, seats), seats, outcome, name)]),
      ),
      region: slices(region),
      partySize: slices(partySize),
      skillBand: slices(skillBand),
    },
    skillBands,
    matches: matchFigures(teams),
    queues: Object.fromEntries(queues.map((queue) => [queue.name, queueFigures(queue, crowd, outcome, teams)])),
    fairness: fairnessOf(seats, outcome),
    refusals: refusalsOf(crowd, outcome),
    servers: serverFigures(outcome.servers, price),
    requests: outcome.requests,
  }
}

/** The seats of tickets that waited in a queue. */
function waitedIn(queue: string, { parties }: Crowd, { tickets }: RunOutcome, { ticket, count }: Seats): Int32Array {
  const waited = tickets.map(({ party }) => parties[party]?.queues?.includes(queue) ?? true)
  return Int32Array.from({ length: count }, (_, seat) => seat).filter((seat) => waited[ticket[seat] as number])
}

function queueFigures(queue: Queue, crowd: Crowd, outcome: RunOutcome, teams: Teams): QueueFigures {
  const isOwn = (index: number) => outcome.matches[index]?.queue === queue.name
  return {
    matches: matchFigures(teams.filter((_, index) => isOwn(index))),
    expansion: expansionsOf(
      queue,
      outcome.matches.filter((_, index) => isOwn(index)),
      crowd,
      outcome,
    ),
  }
}

function serverFigures({ created, most, seconds }: ServerUse, price: FiguresOptions['price']): ServerFigures {
  const base = { created, most, hours: rounded(seconds / 3600, 3) }
  return price === undefined
    ? base
    : { ...base, cost: rounded((seconds / 60) * price.perMinute, 4), currency: price.currency }
}
