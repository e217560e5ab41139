import { type Coordinates, greatCircleKm, InvalidInput } from '@muster/core'
import type { Clock, Random } from '@muster/core/clock'
import { linkedSignal, manyWaitOn } from '@muster/core/internal'
import type { Attributes, Player, Queue, RuleDefinition, Ticket, TicketService } from '@muster/matchmaker'

type Rule = Queue['rules'][number]
type AnyRule = RuleDefinition

/** A city where bots live. */
export interface BotCity extends Coordinates {
  readonly name: string
}

/** A beacon with its name and location. */
interface BotBeacon extends Coordinates {
  readonly name: string
}

export interface BotWorld {
  readonly cities: readonly BotCity[]
  readonly beacons: readonly BotBeacon[]
  readonly random: Random
}

/** Number of beacons to which a bot has latencies: the nearest ones. */
const MEASURED = 12
/** Maximum distance of a bot from its city, in degrees of latitude and longitude. */
const AROUND = 0.6
const WORDS = ['amber', 'birch', 'coral', 'dune', 'ember', 'fjord']

const pick = <T>(from: readonly T[], random: Random): T => from[Math.floor(random() * from.length)] as T

/** Draws a number around 1,500, like a player's rating. Most are within 300 of 1,500. */
const rating = (random: Random) => Math.round(1500 + 250 * (random() + random() + random() + random() - 2))

/** Creates the bots of one party. All live in one city. */
export function botParty(queue: Queue, ids: readonly string[], world: BotWorld): readonly Player[] {
  const { random } = world
  const city = pick(world.cities, random)
  const skill = rating(random)
  return ids.map((id) => {
    const coordinates = {
      latitude: Math.max(-90, Math.min(90, city.latitude + (random() - 0.5) * AROUND)),
      longitude: ((city.longitude + (random() - 0.5) * AROUND + 540) % 360) - 180,
    }
    const roles = rolesOf(queue.rules, random)
    return {
      id,
      coordinates,
      attributes: attributesOf(queue.rules, skill, random),
      ...(roles.length > 0 && { roles }),
      ...(wantsLatencies(queue.rules) && { latencies: latenciesOf(coordinates, world) }),
    }
  })
}

export const wantsLatencies = (rules: readonly Rule[]): boolean => flat(rules).some(({ kind }) => kind === 'latency')

/** Returns the rules, nested ones included. */
const flat = (rules: readonly AnyRule[]): readonly AnyRule[] =>
  rules.flatMap((rule) => ('rules' in rule ? flat(rule.rules) : [rule]))

/** Returns a value for each attribute that the rules compare. */
export function attributesOf(rules: readonly Rule[], skill: number, random: Random): Attributes {
  const attributes: Record<string, Attributes[string]> = {}
  for (const rule of flat(rules)) {
    if (rule.kind === 'balance' && rule.measure === 'predictedWin') Object.assign(attributes, ratedBy(rule, skill))
    const { kind, attribute } = rule as { readonly kind: AnyRule['kind']; readonly attribute?: string }
    if (attribute === undefined || attribute.startsWith('$')) continue
    if (kind === 'difference' || kind === 'balance' || kind === 'compare') {
      attributes[attribute] ??= Math.round(skill + (random() - 0.5) * 100)
    } else if (rule.kind === 'accepts') attributes[attribute] ??= acceptedBy(rule.operator, skill)
    else if (kind === 'overlap') attributes[attribute] ??= WORDS.filter(() => random() < 0.6).concat('amber')
    else if (kind === 'equal' || kind === 'different') attributes[attribute] ??= pick(WORDS.slice(0, 2), random)
    else if (rule.kind === 'require') attributes[attribute] ??= requiredBy(rule.operator, rule.value)
  }
  return withoutRepeats(attributes)
}

/** Returns the rating attributes for a skill, on the scale of the rule's `beta`: see `BalanceRule`. */
function ratedBy(rule: AnyRule & { readonly kind: 'balance' }, skill: number): Attributes {
  const { mean, uncertainty, beta = 25 / 6 } = rule
  if (mean === undefined || uncertainty === undefined) return {}
  return { [mean]: (beta * 6 * skill) / 1500, [uncertainty]: beta }
}

/** Returns a value that a rule with this operator and value accepts. */
function requiredBy(operator: string, value: unknown): Attributes[string] {
  if (operator === 'in' && Array.isArray(value)) return value[0] as string
  if (operator === 'contains') return [value as string]
  if (operator === 'excludes' || operator === 'not in') return operator === 'excludes' ? [] : 'other'
  if (typeof value === 'string' || typeof value === 'boolean') return operator === '=' ? value : 'other'
  const number = typeof value === 'number' ? value : 1000
  return operator.startsWith('<') ? number - 1 : operator === '=' ? number : number + 1
}

/** Returns a value for an attribute that a rule compares between players. */
function acceptedBy(operator: string, skill: number): Attributes[string] {
  if (operator === 'contains' || operator === 'excludes') return WORDS
  return operator.startsWith('<') || operator.startsWith('>') ? skill : (WORDS[0] as string)
}

const withoutRepeats = (attributes: Attributes): Attributes =>
  Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [name, Array.isArray(value) ? [...new Set(value)] : value]),
  )

/** Returns the names of the roles that the rules require. */
export const rolesIn = (rules: readonly Rule[]): readonly string[] => [
  ...new Set(flat(rules).flatMap((rule) => (rule.kind === 'roles' ? Object.keys(rule.roles) : []))),
]

/** Draws one or two of the roles that the queue requires. */
function rolesOf(rules: readonly Rule[], random: Random): readonly string[] {
  const roles = rolesIn(rules)
  return roles.length === 0 ? [] : [...new Set([pick(roles, random), pick(roles, random)])]
}

/** Returns latencies to the nearest beacons: about 10 ms, plus 2 ms for every 100 km. */
export function latenciesOf(
  from: Coordinates,
  { beacons, random }: Pick<BotWorld, 'beacons' | 'random'>,
): Readonly<Record<string, number>> {
  const nearest = beacons
    .map((beacon) => ({ name: beacon.name, km: greatCircleKm(from, beacon) }))
    .toSorted((one, other) => one.km - other.km)
    .slice(0, MEASURED)
  return Object.fromEntries(nearest.map(({ name, km }) => [name, Math.round((10 + km / 50) * (0.9 + random() * 0.3))]))
}

interface BotsOptions {
  readonly service: () => TicketService
  /** The current queues. */
  readonly queues: () => readonly Queue[]
  readonly world: BotWorld
  readonly clock: Clock
  readonly onProblem: (error: unknown) => void
}

/** Bots that behave like people: they arrive, wait, accept, play and leave, and some give up. */
export type Bots = ReturnType<typeof createBots>

/** Maximum number of bots at a time (our choice): about as many as a laptop can simulate. */
const MOST = 20_000
/** Milliseconds over which a group of bots arrives. A group of more than 5,000 arrives at 500 bots per second. */
const ARRIVING_MS = 10_000
const MOST_PER_SECOND = 500
/** Range of the milliseconds for which a bot waits before it gives up. */
const PATIENCE_MS = [30_000, 180_000] as const
const THINKING_MS = [300, 4000] as const
const PLAYING_MS = [20_000, 90_000] as const
/** Share of bots that accept a match, from 0 to 1. */
const ACCEPTING = 0.95

export function createBots({ service, queues, world, clock, onProblem }: BotsOptions) {
  const { random } = world
  const leaving = manyWaitOn()
  const underWay = new Set<Promise<void>>()
  let here = 0
  let made = 0

  const begin = (work: Promise<void>) => {
    const done = work.catch((error: unknown) => {
      if (!leaving.signal.aborted) onProblem(error)
    })
    underWay.add(done)
    void done.then(() => underWay.delete(done))
  }
  const pause = (ms: number) => clock.sleep(ms, leaving.signal)

  const arrive = async (players: number): Promise<void> => {
    const overMs = Math.max(ARRIVING_MS, (players / MOST_PER_SECOND) * 1000)
    const eachMs = overMs / players
    for (let left = players; left > 0;) {
      const queue = queues()[Math.floor(random() * queues().length)] as Queue
      const size = Math.min(left, partySize(queue, random))
      left -= size
      const ids = Array.from({ length: size }, () => `bot-${(made += 1)}`)
      begin(play(queue, ids).finally(() => (here -= size)))
      await pause(eachMs * size * -Math.log(1 - random()))
    }
  }

  const play = async (queue: Queue, ids: readonly string[]): Promise<void> => {
    const patience = linkedSignal(leaving.signal)
    try {
      const ticket = await service().createTicket({ queue: queue.name, players: botParty(queue, ids, world) })
      begin(clock.sleep(between(PATIENCE_MS, random), patience.signal).then(patience.abort, () => {}))
      const matched = await follow(ticket, patience.signal)
      if (matched?.matchId === undefined) return
      patience.abort()
      await pause(between(PLAYING_MS, random)).catch(() => {})
      await service().playersLeft(matched.matchId, ids)
    } finally {
      patience.unlink()
      patience.abort()
    }
  }

  /**
   * Follows a ticket until its players have the server's address. Resolves with undefined if the ticket ends before.
   */
  const follow = async (created: Ticket, patience: AbortSignal): Promise<Ticket | undefined> => {
    let ticket = created
    for (;;) {
      if (ticket.status === 'HOST_ASSIGNED') return ticket
      if (ticket.status === 'CANCELLED') return undefined
      if (isAsked(ticket)) {
        await pause(between(THINKING_MS, random)).catch(() => {})
        ticket = await answer(ticket)
        continue
      }
      try {
        ticket = await service().waitForChange(ticket.id, { version: ticket.version, signal: patience })
      } catch (error) {
        if (!patience.aborted) throw error
        await service().cancelTicket(ticket.id)
        return undefined
      }
    }
  }
  /**
   * Accepts or declines a match. If that fails, because the match is gone or the time to accept is over, returns the
   * ticket's current state.
   */
  const answer = async (ticket: Ticket): Promise<Ticket> => {
    try {
      return await (random() < ACCEPTING ? service().acceptMatch(ticket.id) : service().declineMatch(ticket.id))
    } catch {
      return (await service().getTicket(ticket.id)) ?? { ...ticket, status: 'CANCELLED' }
    }
  }

  return {
    /** Lets bots arrive. @throws {InvalidInput} if the total would exceed the maximum */
    letIn: (players: number) => {
      if (!Number.isSafeInteger(players) || players < 1)
        throw new InvalidInput(`players must be a whole number from 1, got ${players}`, { field: 'players' })
      if (here + players > MOST)
        throw new InvalidInput(`players must be at most ${MOST - here}: ${MOST} bots at once`, { field: 'players' })
      here += players
      begin(arrive(players))
    },
    /** Returns the number of present bots. */
    here: () => here,
    /** Removes all bots. Resolves once none of their work is running. */
    close: async () => {
      leaving.abort(new Error('the bots are being removed'))
      while (underWay.size > 0) await Promise.all(underWay)
    },
  }
}

const between = ([from, to]: readonly [number, number], random: Random) => from + (to - from) * random()

/** Draws the number of players in a party. 70 % of parties have one player. */
function partySize({ teams }: Queue, random: Random): number {
  const most = Math.max(1, ...teams.map(({ size }) => sizeOf(size)))
  if (random() < 0.7) return 1
  return Math.min(most, 1 + Math.floor(random() * 4))
}

const sizeOf = (size: unknown): number => (typeof size === 'number' ? size : (size as { readonly max: number }).max)

/** Returns true if the match waits for the acceptance of a player of this ticket. */
const isAsked = ({ acceptance, players }: Ticket) => (acceptance?.accepted.length ?? Infinity) < players.length
