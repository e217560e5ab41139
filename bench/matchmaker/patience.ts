import { greatCircleKm } from '@muster/core'
import { seededRandom } from '@muster/core/clock'
import { defineQueue, type QueueDefinition } from '@muster/matchmaker'
import { compileQueue, createPool } from '@muster/matchmaker/internal'
import { atLeast, atMost, type Figures } from '../figure.js'
import { NOW, rules, ruleTicket } from './kernel-workload.js'
import { createSampler, STEPS, type Sample } from './workload.js'

/** Tickets per minute, and the minutes for which they come: in the evening, by day and at night. */
const LOADS = [
  { load: 'evening', perMinute: 3000, minutes: 1.5 },
  { load: 'day', perMinute: 300, minutes: 6 },
  { load: 'night', perMinute: 30, minutes: 30 },
] as const
const SEEDS = [1, 2, 3]
const TICK_MS = 250
const EXPIRE_MS = 300_000
/** Difference from the average skill from which on a player counts as rare: one in 160. */
const RARE = 750

const PATIENT = { patience: { cost: 2.5, untilMs: 23_000 } }
const QUEUES = {
  plain: {},
  patient: PATIENT,
  'patient, with a last resort': { ...PATIENT, lastResortMs: 90_000 },
} satisfies Record<string, Partial<QueueDefinition>>

/**
 * Measures the settings that `muster check` recommends for queues of teams: patience, and a last resort. Parties arrive
 * at three rates, in queues of three against three and five against five. The results are the cost of matches, the
 * waits, and the share of matched players.
 */
export async function patienceFigures(): Promise<Figures> {
  const figures: Figures['figures'][number][] = []
  const peers: Record<string, unknown> = {}
  for (const size of [3, 5]) {
    for (const { load, perMinute, minutes } of LOADS) {
      const run = (more: Partial<QueueDefinition>) =>
        meanOf(SEEDS.map((seed) => play({ size, perMinute, minutes, more, seed })))
      const results = { plain: run(QUEUES.plain), patient: run(QUEUES.patient) }
      const last = run(QUEUES['patient, with a last resort'])
      const name = `${size} against ${size}, ${load}`
      peers[name] = { ...results, 'patient, with a last resort': last }
      figures.push(
        atMost(`patience: ${name}: wait of 95 %`, results.patient.p95S / results.plain.p95S, 1.15, 'x without'),
        atLeast(`patience: ${name}: rare players matched with a last resort`, last.rarePercent, 95, '%'),
      )
      if (load === 'evening')
        figures.push(atMost(`patience: ${name}: cost`, results.patient.cost / results.plain.cost, 0.92, 'x without'))
    }
  }
  return { figures, peers }
}

interface Played {
  readonly percent: number
  readonly rarePercent: number
  readonly p50S: number
  readonly p95S: number
  /** Mean cost of the pairs of a match, in units of the strictest limits. */
  readonly cost: number
}

interface Scene {
  readonly size: number
  readonly perMinute: number
  readonly minutes: number
  readonly more: Partial<QueueDefinition>
  readonly seed: number
}

function play({ size, perMinute, minutes, more, seed }: Scene): Played {
  const compiled = compileQueue(
    defineQueue({
      name: 'teams',
      teams: [{ name: 'team', count: 2, size }],
      rules: [...rules, { kind: 'balance', attribute: 'skill', max: 1000 }],
      expireAfterMs: EXPIRE_MS,
      deploy: { application: 'game', version: '1' },
      ...more,
    }),
  )
  const pool = createPool(compiled.model)
  const tickets = arriving({ size, perMinute, minutes, seed }, compiled.entryOf)
  const isRare = ({ sample }: Arriving) => Math.abs(sample.skill - 1500) > RARE
  const bySlot = new Map<number, Arriving>()
  const waits: number[] = []
  const costs: number[] = []
  let [next, rare] = [0, 0]
  for (let now = NOW; now <= NOW + minutes * 60_000 + EXPIRE_MS; now += TICK_MS) {
    for (let one = tickets[next]; one !== undefined && one.at <= now; one = tickets[++next])
      bySlot.set(pool.add(one.entry), one)
    const matches = [...pool.group(now)]
    for (const { slots } of matches) {
      const members = slots.map((slot) => bySlot.get(slot) as Arriving)
      for (const [at, one] of members.entries()) {
        for (let each = 0; each < one.sample.size; each++) waits.push(now - one.at)
        for (const other of members.slice(at + 1)) costs.push(costOf(one.sample, other.sample))
        if (isRare(one)) rare += 1
      }
      for (const slot of slots) {
        pool.remove(slot)
        bySlot.delete(slot)
      }
    }
    for (const [slot, { at }] of bySlot) {
      if (now - at <= EXPIRE_MS) break
      pool.remove(slot)
      bySlot.delete(slot)
    }
  }
  const sorted = waits.toSorted((one, other) => one - other)
  const secondsAt = (share: number) => (sorted[Math.floor(share * sorted.length)] ?? 0) / 1000
  const players = tickets.reduce((sum, { sample }) => sum + sample.size, 0)
  return {
    percent: (100 * waits.length) / players,
    rarePercent: (100 * rare) / tickets.filter(isRare).length,
    p50S: secondsAt(0.5),
    p95S: secondsAt(0.95),
    cost: costs.reduce((sum, cost) => sum + cost, 0) / costs.length,
  }
}

type EntryOf = ReturnType<typeof compileQueue>['entryOf']

interface Arriving {
  readonly sample: Sample
  readonly at: number
  readonly entry: ReturnType<EntryOf>
}

function arriving({ size, perMinute, minutes, seed }: Omit<Scene, 'more'>, entryOf: EntryOf): Arriving[] {
  const [draw, random] = [createSampler(seed), seededRandom(seed)]
  const tickets: Arriving[] = []
  for (let at = NOW; at < NOW + minutes * 60_000; at += (-Math.log(1 - random()) * 60_000) / perMinute) {
    const drawn = draw()
    const sample = { ...drawn, waitedS: 0, size: drawn.size > size ? 1 : drawn.size }
    const createdAt = Math.floor(at)
    tickets.push({ sample, at: createdAt, entry: entryOf({ ...ruleTicket(sample, tickets.length), createdAt }) })
  }
  return tickets
}

const costOf = (one: Sample, other: Sample) =>
  greatCircleKm(one, other) / STEPS[0].km + Math.abs(one.skill - other.skill) / STEPS[0].skill

function meanOf(runs: readonly Played[]): Played {
  const mean = (of: (run: Played) => number) => runs.reduce((sum, run) => sum + of(run), 0) / runs.length
  return {
    percent: mean(({ percent }) => percent),
    rarePercent: mean(({ rarePercent }) => rarePercent),
    p50S: mean(({ p50S }) => p50S),
    p95S: mean(({ p95S }) => p95S),
    cost: mean(({ cost }) => cost),
  }
}
