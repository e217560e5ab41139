// pure: what gives way after how long a wait
import type { CompiledQueue } from '../compile.js'
import { limitsOf, startsOf } from '../rules/levels.js'
import type { Rule } from '../rules/rule.js'
import type { NextRelaxation, RelaxationChange } from './explanation.js'
import { shownLimits } from './probes.js'
import { readable } from './rounding.js'

interface Boundary {
  /** Milliseconds of waiting at which the limits change. */
  readonly atMs: number
  readonly changes: readonly RelaxationChange[]
}

/** Finds the next relaxation for a ticket that has waited `waitedMs` milliseconds, and is so much ahead of its wait. */
type NextAfter = (waitedMs: number, aheadMs: number) => NextRelaxation | undefined

export function relaxationsOf(compiled: CompiledQueue): NextAfter {
  const { levels, model } = compiled
  const tables = compiled.rules.map(({ rule }) => ({ rule, limits: shownLimits(compiled, rule) }))
  const full = model.teams.reduce((sum, { max }) => sum + max, 0)
  const boundariesOf = (starts: Float64Array): Boundary[] => {
    const levelAt = (waitedMs: number) => starts.findLastIndex((ms) => ms <= waitedMs)
    /** Players of the smallest match after a wait of `waitedMs`. */
    const leastAt = (waitedMs: number) =>
      waitedMs < model.fillForMs ? full : model.teams.reduce((sum, { min }) => sum + (min[levelAt(waitedMs)] ?? 0), 0)
    const times = [...new Set([...starts, model.fillForMs])].toSorted((one, other) => one - other)
    return times.slice(1).flatMap((atMs, index): Boundary[] => {
      const beforeMs = times[index] ?? 0
      const [before, after] = [levelAt(beforeMs), levelAt(atMs)]
      const ofRules = tables.flatMap(({ rule, limits }) =>
        changeOf(rule, limits[before] ?? Number.NaN, limits[after] ?? Number.NaN),
      )
      const [from, to] = [leastAt(beforeMs), leastAt(atMs)]
      const changes = from === to ? ofRules : [...ofRules, { from, to }]
      return changes.length === 0 ? [] : [{ atMs, changes }]
    })
  }
  const boundaries = boundariesOf(levels.at)

  return (waitedMs, aheadMs) => {
    const own = aheadMs === 0 ? boundaries : boundariesOf(startsOf(levels, aheadMs))
    const next = own.find(({ atMs }) => atMs > waitedMs)
    return next && { inMs: Math.round(next.atMs - waitedMs), changes: next.changes }
  }
}

/** @param to NaN if the rule no longer counts. */
function changeOf(rule: Rule, from: number, to: number): RelaxationChange[] {
  if (Number.isNaN(from) || from === to) return []
  const limit = limitsOf(rule).length > 0 ? { from: readable(from) } : {}
  return [Number.isNaN(to) ? { rule: rule.name, ...limit } : { rule: rule.name, ...limit, to: readable(to) }]
}
