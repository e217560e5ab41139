// pure: looks for the reason why a ticket still waits
import type { Pool, Slot } from '@muster/kernel'
import type { CompiledQueue } from '../compile.js'
import type { Facts } from '../rules/facts.js'
import type { Explanation, NearMiss } from './explanation.js'
import { probesOf, type Probe, type Seen } from './probes.js'
import { relaxationsOf } from './relaxations.js'
import { readable } from './rounding.js'
import { summaryOf } from './summary.js'

/**
 * Number of other tickets that are compared: enough to see what blocks a ticket, few enough to explain every ticket
 * each second (our choice).
 */
const MOST_OTHERS = 16

export type Explain = (pool: Pool<Facts>, slot: Slot, now: number) => Explanation

/** Creates the explainer of a queue, which then explains any ticket in its pool. */
export function createExplain(compiled: CompiledQueue): Explain {
  const { model, queue } = compiled
  const probes = probesOf(compiled)
  const names = probes.map(({ rule }) => rule.name)
  const shortages = compiled.rules.filter(({ shortage }) => shortage !== undefined)
  const keys = compiled.rules.filter(({ keyOf }) => keyOf !== undefined)
  const aboutMatches = compiled.rules.filter(({ whole, pair }) => whole !== undefined && pair === undefined)
  const together = aboutMatches.map(({ rule }) => rule.name)
  const nextAt = relaxationsOf(compiled)
  /** The level that counts in a match of these two tickets. */
  const levelFor = (
    { rule }: Probe,
    one: Seen,
    other: Seen,
    level: number,
    otherLevel: number,
    now: number,
  ): number => {
    const highest = Math.max(level, otherLevel)
    if (highest >= model.lastResortLevel) return model.lastResortLevel
    if (rule.by === 'oldest') return highest
    if (rule.by !== 'average') return Math.min(level, otherLevel)
    if (model.adaptive === true) return Math.floor((level + otherLevel) / 2)
    const waited = now - (one.since + other.since) / 2
    return model.levels.findLastIndex((ms) => ms <= waited)
  }
  const full = model.teams.reduce((sum, { max }) => sum + max, 0)

  return (pool, slot, now) => {
    const self = pool.entryOf(slot)
    const level = pool.levelOf(slot, now)
    const waitedMs = Math.max(0, now - self.since)
    const others = pool.around(slot, now, MOST_OTHERS)
    const lets = new Uint8Array(probes.length)
    const everyone = [self.facts]
    let players = self.size
    let nearest: NearMiss | undefined
    let nearness = Infinity

    for (const one of others) {
      const other = pool.entryOf(one)
      const otherLevel = pool.levelOf(one, now)
      let failed: Probe | undefined
      let failures = 0
      for (let at = 0; at < probes.length; at += 1) {
        const probe = probes[at] as Probe
        if (probe.passes(self, other, levelFor(probe, self, other, level, otherLevel, now)))
          lets[at] = (lets[at] as number) + 1
        else {
          failed = probe
          failures += 1
        }
      }
      if (failed === undefined) {
        everyone.push(other.facts)
        players += other.size
      } else if (failures === 1) {
        const miss = missOf(failed, self, other, levelFor(failed, self, other, level, otherLevel, now))
        if (miss === undefined || miss.gap / Math.max(Math.abs(miss.limit), 1) >= nearness) continue
        nearest = miss
        nearness = miss.gap / Math.max(Math.abs(miss.limit), 1)
      }
    }

    const needed = waitedMs < model.fillForMs ? full : model.teams.reduce((sum, { min }) => sum + (min[level] ?? 0), 0)
    const lacks = Math.max(0, needed - players)
    /** Names the rule that blocks the ticket most. */
    const blocking = (): string | undefined => {
      if (others.length === 0) return pool.count > 1 ? keys[0]?.rule.name : undefined
      if (lacks === 0) return shortages.find(({ shortage }) => (shortage?.(everyone) ?? 0) > 0)?.rule.name
      const fewest = Math.min(...lets)
      return fewest < others.length ? names[lets.indexOf(fewest)] : undefined
    }
    const aheadMs = pool.aheadOf(slot, now)
    const why = {
      waitedMs: Math.round(waitedMs),
      waiting: pool.count - 1,
      others: others.length,
      compatible: everyone.length - 1,
      rules: names.map((rule, at) => ({ rule, lets: lets[at] ?? 0 })),
      blocking: blocking(),
      nearest,
      lacks,
      ...(queue.targetWaitMs !== undefined && { targetWaitMs: queue.targetWaitMs, aheadMs: Math.round(aheadMs) }),
      next: nextAt(waitedMs, aheadMs),
    }
    return { queue: queue.name, summary: summaryOf(why, together), ...why }
  }
}

function missOf(
  { rule, limits, atLeast, measure }: Probe,
  self: Seen,
  other: Seen,
  level: number,
): NearMiss | undefined {
  const [value, limit] = [measure(self, other), limits[level] ?? Number.NaN]
  if (value === undefined || Number.isNaN(limit)) return undefined
  const gap = atLeast ? limit - value : value - limit
  if (gap <= 0) return undefined
  const unit = rule.kind === 'distance' ? 'km' : rule.kind === 'latency' ? 'ms' : undefined
  return { rule: rule.name, value: readable(value), limit: readable(limit), gap: readable(gap), ...(unit && { unit }) }
}
