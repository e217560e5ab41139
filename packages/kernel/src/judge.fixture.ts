import type { Entry, Grouped, MatchLevels, Model, Opening, Slot } from './data/model.js'

/** Lists the faults of a match. It follows `model.ts` alone, is slow and plain, and shares no code with the kernel. */

/** Everything that a test has added to a pool. */
export interface World {
  readonly model: Model<string>
  readonly tickets: ReadonlyMap<Slot, Entry<string>>
  readonly openings: ReadonlyMap<Slot, Opening<string>>
  readonly now: number
  /** The level of each ticket and opening as returned by the pool, if head starts decide it. */
  readonly levelOf?: ((slot: Slot) => number) | undefined
}

type Member = Pick<Entry<string>, 'since' | 'key' | 'place' | 'network' | 'values'>

export function faults(
  { model, tickets, openings, now, levelOf }: World,
  { opening, slots, teams }: Grouped,
): string[] {
  const entries = slots.map((slot) => tickets.get(slot))
  if (entries.includes(undefined)) return ['a ticket that is not in the pool']
  return matchFaults(
    model,
    entries as Entry<string>[],
    teams,
    opening === undefined ? undefined : openings.get(opening),
    now,
    levelOf && [...(opening === undefined ? [] : [opening]), ...slots].map(levelOf),
  )
}

export function matchFaults(
  model: Model<string>,
  entries: readonly Entry<string>[],
  teams: readonly number[],
  opening: Opening<string> | undefined,
  now: number,
  told?: readonly number[],
): string[] {
  const found: string[] = []
  const must = (holds: boolean, fault: string) => {
    if (!holds) found.push(fault)
  }
  const all: Member[] = opening === undefined ? [...entries] : [opening, ...entries]
  const waits = all.map(({ since }) => now - since)
  const level = (waited: number) =>
    Math.max(
      0,
      model.levels.findLastIndex((from) => waited >= from),
    )
  const levels = told ?? waits.map(level)
  const last = levels.some((one) => one >= model.lastResortLevel) ? model.lastResortLevel : undefined
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const average = told === undefined ? level(mean(waits)) : Math.floor(mean(told))
  const matchLevels: MatchLevels = {
    youngest: last ?? Math.min(...levels),
    oldest: last ?? Math.max(...levels),
    average: last ?? average,
    now,
  }
  const between = (by: 'each' | 'youngest' | 'oldest' | 'average', one: number, other: number) =>
    by === 'each' ? (last ?? Math.min(levels[one] as number, levels[other] as number)) : matchLevels[by]

  const levelIn = (one: number) => last ?? (levels[one] as number)
  must(slots(entries), 'the same ticket twice')
  must(entries.length > 0, 'no members')
  must(entries.length === teams.length, 'not one team per member')
  must(
    entries.every((entry, at) => at === 0 || (entries[at - 1] as Entry<string>).since <= entry.since),
    'not oldest first',
  )

  for (const [one, a] of all.entries()) {
    for (const [other, b] of all.entries()) {
      must(a.key === b.key, 'different keys')
      if (one !== other && model.radius !== undefined) {
        const limit = model.radius.squared[between(model.radius.by, one, other)] as number
        must(squareOf(a, b, model.radius.unknown) <= limit, 'too far apart')
      }
      for (const [index, span] of model.spans.entries()) {
        if (a === opening && b === opening) continue
        const values = [a, b]
          .map((member) => member.values.slice(2 * index, 2 * index + 2))
          .filter(([low, high]) => !Number.isNaN(low) && !Number.isNaN(high))
        const [lows, highs] = [values.map(([low]) => low as number), values.map(([, high]) => high as number)]
        const ofOpening = [a, b].indexOf(opening as Member)
        const range =
          ofOpening === -1 || values.length < 2
            ? Math.max(...highs) - Math.min(...lows)
            : Math.max((highs[0] as number) - (lows[1] as number), (highs[1] as number) - (lows[0] as number))
        must(
          values.length === 0 ||
            (ofOpening !== -1 && values.length < 2) ||
            range <= (span.limit[between(span.by, one, other)] as number),
          `span ${index}`,
        )
      }
    }
  }

  const rooms = opening?.rooms ?? model.teams.map(({ max }) => max)
  const players = rooms.map((_, team) =>
    entries.reduce((sum, { size }, at) => (teams[at] === team ? sum + size : sum), 0),
  )
  must(
    players.every((many, team) => many <= (rooms[team] as number)),
    'too many in a team',
  )
  if (opening === undefined && players.some((many, team) => many < (rooms[team] as number))) {
    must(Math.max(...waits) >= model.fillForMs, 'too small too early')
    must(
      players.every((many, team) => many >= (model.teams[team]?.min[matchLevels.oldest] as number)),
      'too small',
    )
  }

  const members = rooms.map((_, team) => [
    ...(opening?.present[team] ?? []),
    ...entries.filter((__, at) => teams[at] === team).map(({ facts }) => facts),
  ])
  const { checks } = model
  for (const [one, a] of all.entries()) {
    for (const [other, b] of all.entries()) {
      if (one >= other) continue
      for (const x of factsOf(a))
        for (const y of factsOf(b))
          must(checks?.pair?.(x, y, between('each', one, other), levelIn(one), levelIn(other)) ?? true, 'pair')
    }
  }
  must(checks?.whole?.(members, matchLevels) ?? true, 'whole')
  must(checks?.balanced?.(members, matchLevels) ?? true, 'unbalanced')
  must(checks?.counts?.allows(players, players, matchLevels) ?? true, 'numbers of players')
  for (const { countOf, teams: about, least, most } of checks?.quotas ?? []) {
    for (const team of about) {
      const count = (members[team] ?? []).reduce((sum, facts) => sum + countOf(facts), 0)
      must(count >= (least[matchLevels.youngest] as number), 'too few of a kind')
      must(count <= (most?.[matchLevels.youngest] ?? Infinity), 'too many of a kind')
    }
  }
  return found

  function factsOf(member: Member): readonly string[] {
    return 'present' in member ? (member as Opening<string>).present.flat() : [(member as Entry<string>).facts]
  }
}

const slots = (entries: readonly Entry<string>[]) => new Set(entries).size === entries.length

function squareOf(a: Member, b: Member, unknown: 'network' | 'any'): number {
  const [p, q] = [known(a.place), known(b.place)]
  if (p !== undefined && q !== undefined) return (p[0] - q[0]) ** 2 + (p[1] - q[1]) ** 2 + (p[2] - q[2]) ** 2
  return unknown === 'any' || (a.network !== undefined && a.network === b.network) ? 0 : Infinity
}

const known = (place: Member['place']) => (place?.every(Number.isFinite) === true ? place : undefined)
