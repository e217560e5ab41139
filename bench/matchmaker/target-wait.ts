/**
 * Measures whether tickets wait as long as their queue's target while the load changes tenfold, and what this gains. It
 * is compared with the best schedule set by hand that has the same p90 over the whole day. The whole matchmaker runs,
 * with crowds of the lab.
 */
import { greatCircleKm } from '@muster/core'
import { runCrowd, type Crowd } from '@muster/lab'
import type { QueueDefinition } from '@muster/matchmaker'
import { atLeast, atMost, type Figures } from '../figure.js'
import {
  BOUNDS,
  crowdOf,
  REGIONS,
  scheduled,
  SCENES,
  targeted,
  WARM_UP_S,
  type FixedSchedule,
  type TargetScene,
} from './target-wait-workload.js'

/** Number of parts of a day for which the p90 is reported separately. */
const PHASES = 8
/** Spans of the schedules set by hand, in target waits: from fast growth to limits that hardly grow. */
const SPANS = [1, 2.5, 5, 40]
/** Number of runs for each span, to find the start with the wanted p90. */
const RUNS_OF_SPAN = 4

export async function targetWaitFigures(): Promise<Figures> {
  const figures: Figures['figures'][number][] = []
  const peers: Record<string, unknown> = {}
  for (const scene of SCENES) {
    const crowd = crowdOf(scene, 1)
    const played = await play(crowd, targeted(scene), scene)
    const name = `target wait: ${scene.what}`
    const ofTarget = (seconds: number) => (100 * seconds) / scene.targetS
    const isChange = (phase: number) => scene.changes.some((share) => Math.floor(share * PHASES) === phase)
    const steady = played.phases.filter((_, phase) => !isChange(phase)).map(ofTarget)
    const changing = played.phases.filter((_, phase) => isChange(phase)).map(ofTarget)
    figures.push(
      atLeast(`${name}: p90 in the phase of the shortest waits`, Math.min(...steady), 80, '% of the target'),
      atMost(`${name}: p90 in the phase of the longest waits`, Math.max(...steady), 120, '% of the target'),
    )
    if (changing.length > 0)
      figures.push(atMost(`${name}: p90 in a phase with a step`, Math.max(...changing), 200, '% of the target'))
    peers[name] = { targeted: played }
    if (scene.changes.length > 0) continue
    const fixed = await bestFixed(crowd, scene, played.p90)
    const share = (100 * played.cost) / fixed.cost
    figures.push(atMost(`${name}: cost of matches, beside the best fixed schedule of the same p90`, share, 100, '%'))
    peers[name] = { targeted: played, 'best fixed schedule': fixed }
  }
  return { figures, peers }
}

interface Played {
  readonly tickets: number
  /** 90th percentile of waits in seconds. */
  readonly p90: number
  /**
   * Mean over tickets of the largest differences in skill and distance in their match, in units of the strictest
   * limits.
   */
  readonly cost: number
  readonly phases: readonly number[]
  readonly costs: readonly number[]
  readonly regions: Readonly<Record<string, number>>
  readonly sizes: readonly number[]
}

async function play(crowd: Crowd, queue: QueueDefinition, { hours }: TargetScene): Promise<Played> {
  const outcome = await runCrowd(crowd, [queue], { tickMs: 1000 })
  const partyOf = (ticket: number) => crowd.parties[outcome.tickets[ticket]?.party ?? 0]
  const costs = outcome.matches.map(({ tickets }) => costOf(tickets.map(partyOf)))
  const all = outcome.tickets.flatMap(({ createdAt, matchedAt, match, party }) => {
    const phase = Math.floor(((createdAt / 1000 - WARM_UP_S) * PHASES) / (hours * 3600))
    const { players = [] } = crowd.parties[party] ?? {}
    if (phase < 0 || phase >= PHASES) return []
    const waitS = matchedAt === undefined ? Infinity : (matchedAt - createdAt) / 1000
    const cost = match === undefined ? Number.NaN : (costs[match] as number)
    return [{ phase, waitS, cost, region: players[0]?.region, size: players.length }]
  })
  type Ticket = (typeof all)[number]
  const p90 = (of: readonly Ticket[]) =>
    rounded(
      quantile(
        of.map(({ waitS }) => waitS),
        0.9,
      ),
      10,
    )
  const known = (values: readonly number[]) => values.filter((one) => !Number.isNaN(one))
  const cost = (of: readonly Ticket[]) => rounded(mean(known(of.map((ticket) => ticket.cost))), 1000)
  const phases = Array.from({ length: PHASES }, (_, phase) => all.filter((ticket) => ticket.phase === phase))
  return {
    tickets: all.length,
    p90: p90(all),
    cost: cost(all),
    phases: phases.map(p90),
    costs: phases.map(cost),
    regions: Object.fromEntries(REGIONS.map(({ name }) => [name, p90(all.filter(({ region }) => region === name))])),
    sizes: [1, 2, 3, 4, 5].map((size) => p90(all.filter((ticket) => ticket.size === size))),
  }
}

function costOf(parties: readonly (Crowd['parties'][number] | undefined)[]): number {
  const seats = parties.flatMap((party) => party?.players[0] ?? [])
  const skills = seats.map(({ attributes }) => Number(attributes?.['skill']))
  let km = 0
  for (const { coordinates: one } of seats)
    for (const { coordinates: other } of seats) if (one && other) km = Math.max(km, greatCircleKm(one, other))
  return (Math.max(...skills) - Math.min(...skills)) / BOUNDS.skill[0] + km / BOUNDS.km[0]
}

interface FixedPeer extends Played {
  readonly schedule: FixedSchedule
}

/**
 * Finds for each span a schedule that has the wanted p90 over the whole day, and returns the schedule of least cost.
 * The start of a schedule is searched by the secant method on the logarithm of the p90.
 */
async function bestFixed(crowd: Crowd, scene: TargetScene, p90: number): Promise<FixedPeer> {
  const found: FixedPeer[] = []
  for (const span of SPANS) {
    const tried: { readonly from: number; readonly error: number }[] = []
    const runs: FixedPeer[] = []
    for (let run = 0; run < RUNS_OF_SPAN; run += 1) {
      const schedule = { from: nextStart(tried, span), spanS: span * scene.targetS }
      const played = await play(crowd, scheduled(scene, schedule), scene)
      runs.push({ ...played, schedule })
      tried.push({ from: schedule.from, error: Math.log(played.p90 / p90) })
    }
    const [nearest] = runs.toSorted((a, b) => Math.abs(a.p90 - p90) - Math.abs(b.p90 - p90))
    if (nearest !== undefined) found.push(nearest)
  }
  const same = found.filter((one) => Math.abs(one.p90 / p90 - 1) < 0.05)
  if (same.length === 0) throw new Error(`no schedule set by hand has a p90 of ${p90} s`)
  return same.toSorted((a, b) => a.cost - b.cost)[0] as FixedPeer
}

/** Returns the next start to try: a looser one if waits were too long. */
function nextStart(tried: readonly { readonly from: number; readonly error: number }[], span: number): number {
  const [before, last] = tried.slice(-2)
  if (before === undefined) return Math.max(0, 0.6 - 0.6 / span)
  const slope = last === undefined ? -8 : (last.error - before.error) / (last.from - before.from)
  const { from, error } = last ?? before
  const step = Number.isFinite(slope) && slope < 0 ? -error / slope : Math.sign(error) * 0.02
  return Math.min(0.95, Math.max(0, from + Math.min(0.15, Math.max(-0.15, step))))
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
const quantile = (values: readonly number[], share: number) =>
  values.toSorted((one, other) => one - other)[Math.floor(share * values.length)] ?? Number.NaN
const rounded = (value: number, per: number) => Math.round(value * per) / per
