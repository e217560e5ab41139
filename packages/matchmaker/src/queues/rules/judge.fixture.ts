import type { Entry, MatchLevels, Model } from '@muster/kernel'
import type { CompiledQueue } from '../compile.js'
import type { Facts } from '../rule-parts/rule-types.js'

/** True if the compiled model allows a match. Calls the model's functions directly. */
export function modelAllows(
  { model }: CompiledQueue,
  teams: readonly (readonly Entry<Facts>[])[],
  now: number,
): boolean {
  const { radius, spans, checks } = model
  const entries = teams.flat()
  const levels = levelsOf(model, entries, now)
  const facts = teams.map((team) => team.map((entry) => entry.facts))
  const players = teams.map((team) => team.reduce((sum, { size }) => sum + size, 0))
  const levelBetween = (one: Entry<Facts>, other: Entry<Facts>, by: keyof MatchLevels | 'each') => {
    if (by !== 'each') return levels[by]
    if (levels.youngest === model.lastResortLevel) return levels.youngest
    return Math.min(levelOf(model, one, now), levelOf(model, other, now))
  }
  const isLast = levels.youngest === model.lastResortLevel
  const ownLevel = (one: Entry<Facts>) => (isLast ? model.lastResortLevel : levelOf(model, one, now))
  const inSpans = (one: Entry<Facts>, other: Entry<Facts>) =>
    spans.every(({ by, limit }, index) => {
      const all = [one, other].flatMap(({ values }) => values.slice(2 * index, 2 * index + 2))
      const known = all.filter((value) => !Number.isNaN(value))
      return Math.max(...known) - Math.min(...known) <= (limit[levelBetween(one, other, by)] ?? 0)
    })
  const inRadius = (one: Entry<Facts>, other: Entry<Facts>) =>
    radius === undefined || near(one, other, radius.squared[levelBetween(one, other, radius.by)] ?? 0, radius.unknown)
  const mayMeet = (one: Entry<Facts>, other: Entry<Facts>) =>
    checks?.pair?.(one.facts, other.facts, levelBetween(one, other, 'each'), ownLevel(one), ownLevel(other)) ?? true

  return (
    entries.every((one, index) =>
      entries.every((other, later) => {
        if (one.key !== other.key || !inSpans(one, other)) return false
        // The kernel checks each pair once, in either order.
        return later <= index || (inRadius(one, other) && mayMeet(one, other))
      }),
    ) &&
    (checks?.part?.(
      facts,
      facts.map(() => 0),
      levels,
    ) ??
      true) &&
    (checks?.whole?.(facts, levels) ?? true) &&
    (checks?.balanced?.(facts, levels) ?? true) &&
    (checks?.counts?.allows(players, players, levels) ?? true) &&
    (checks?.quotas ?? []).every(({ countOf, teams, least, most }) =>
      teams.every((team) => {
        const count = (facts[team] ?? []).reduce((sum, one) => sum + countOf(one), 0)
        return count >= (least[levels.youngest] as number) && count <= (most?.[levels.youngest] ?? Infinity)
      }),
    )
  )
}

function near(one: Entry<Facts>, other: Entry<Facts>, limit: number, unknown: 'network' | 'any'): boolean {
  if (limit === Infinity) return true
  const [a, b] = [one.place, other.place]
  if (a && b) return (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2 <= limit
  return unknown === 'any' || (one.network !== undefined && one.network === other.network)
}

const levelOf = (model: Model<Facts>, { since }: Entry<Facts>, now: number) => levelAt(model, now - since)

const levelAt = ({ levels }: Model<Facts>, waited: number) => levels.findLastIndex((ms) => ms <= waited)

/** Returns the levels of a match of these tickets. */
export function levelsOf(model: Model<Facts>, entries: readonly Entry<Facts>[], now: number): MatchLevels {
  const all = entries.map((entry) => levelOf(model, entry, now))
  if (all.includes(model.lastResortLevel)) {
    return { youngest: model.lastResortLevel, oldest: model.lastResortLevel, average: model.lastResortLevel, now }
  }
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const average =
    model.adaptive === true ? Math.floor(mean(all)) : levelAt(model, mean(entries.map(({ since }) => now - since)))
  return { youngest: Math.min(...all), oldest: Math.max(...all), average, now }
}
