import type { History, HistoryStep, QueueHistory } from '@muster/console/wire'
import type { Surveyed } from '@muster/matchmaker'
import type { Activity } from '../watching/activity.js'
import { serverCount } from './now.js'

/** The last hour in memory, in steps of ten seconds. */
export interface HistoryLog {
  /** Ends a step. */
  step(seen: Surveyed | undefined, at: number): HistoryStep
  history(missing: readonly string[]): History
}

export const STEP_MS = 10_000
export const STEPS = 3_600_000 / STEP_MS

type Sample = HistoryStep['queues'][number]

export function createHistory(activity: Activity, queueNames: () => readonly string[]): HistoryLog {
  const steps: HistoryStep[] = []

  const sampleOf = (name: string, seen: Surveyed | undefined): Sample => {
    const { arrivals, matches, waits } = activity.of(name).endStep()
    return {
      name,
      players: seen?.queues.find((queue) => queue.name === name)?.players ?? 0,
      arrivals,
      matches,
      waitP50: waits?.quantile(0.5) ?? null,
      waitP95: waits?.quantile(0.95) ?? null,
    }
  }
  const historyOf = (name: string): QueueHistory => {
    const samples = steps.map(({ queues }) => queues.find((queue) => queue.name === name))
    return {
      name,
      players: samples.map((sample) => sample?.players ?? 0),
      arrivals: samples.map((sample) => sample?.arrivals ?? 0),
      matches: samples.map((sample) => sample?.matches ?? 0),
      waitP50: samples.map((sample) => sample?.waitP50 ?? null),
      waitP95: samples.map((sample) => sample?.waitP95 ?? null),
    }
  }

  return {
    step: (seen, at) => {
      const names = queueNames()
      activity.keep(names)
      const step: HistoryStep = {
        at: Math.floor(at),
        servers: seen === undefined ? 0 : serverCount(seen),
        queues: names.map((name) => sampleOf(name, seen)),
      }
      steps.push(step)
      if (steps.length > STEPS) steps.shift()
      return step
    },
    history: (missing) => ({
      step: STEP_MS,
      from: steps[0]?.at ?? 0,
      length: steps.length,
      queues: queueNames().map(historyOf),
      servers: steps.map(({ servers }) => servers),
      missing,
    }),
  }
}
