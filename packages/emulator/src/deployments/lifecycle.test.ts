import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  fail,
  finish,
  isEnding,
  isStarting,
  newborn,
  nextEvent,
  stop,
  type Life,
  type DeploymentPlan,
  type StatusName,
} from './lifecycle.js'

const plan: DeploymentPlan = {
  stages: { INITIALIZING: 10, SEEKING: 20, SEEKED: 30, SCANNING: 40, DEPLOYING: 400 },
  timeToDeployMs: 10_000,
  maxDurationMs: 60_000,
  terminatingMs: 100,
  outcome: 'ready',
}

/** Returns all events that happen without requests, as [time, status]. */
function run(plan: DeploymentPlan, from: Life = newborn) {
  const seen: [at: number, status: StatusName][] = [[from.since, from.status]]
  let life = from
  for (let event = nextEvent(life, plan); event !== undefined; event = nextEvent(life, plan)) {
    life = event.life
    seen.push([event.at, life.status])
    if (seen.length > 20) throw new Error('it never ends')
  }
  return { life, seen }
}

test('a deployment passes all statuses to READY, and to TERMINATED at max_duration', () => {
  const { seen, life } = run(plan)
  expect(seen).toEqual([
    [0, 'INITIALIZING'],
    [10, 'SEEKING'],
    [30, 'SEEKED'],
    [60, 'SCANNING'],
    [100, 'DEPLOYING'],
    [500, 'READY'],
    [60_000, 'TERMINATING'],
    [60_100, 'TERMINATED'],
  ])
  expect(life).toMatchObject({ lastStatus: 'TERMINATING', error: undefined })
})

test('time_to_deploy ends a slow deployment in any status before READY', () => {
  expect(run({ ...plan, timeToDeployMs: 300, maxDurationMs: Infinity })).toMatchObject({
    life: { status: 'ERROR', lastStatus: 'DEPLOYING', since: 300, error: 'time_to_deploy exceeded' },
  })
  expect(run({ ...plan, timeToDeployMs: 25, maxDurationMs: Infinity }).life).toMatchObject({
    status: 'ERROR',
    lastStatus: 'SEEKING',
    since: 25,
  })
  expect(run({ ...plan, timeToDeployMs: 500, maxDurationMs: Infinity }).life.status).toBe('READY')
})

test('a deployment that never becomes ready stays DEPLOYING until time_to_deploy', () => {
  const stuck = { ...plan, outcome: 'never', maxDurationMs: Infinity } as const
  expect(run(stuck).life).toMatchObject({ status: 'ERROR', since: 10_000 })
  expect(run({ ...stuck, timeToDeployMs: Infinity }).life).toMatchObject({ status: 'DEPLOYING', since: 100 })
})

test('a stop before READY takes effect at the moment at which the deployment is READY', () => {
  const asked = stop(newborn, 5)
  expect(asked).toMatchObject({ status: 'INITIALIZING', stopRequested: true, since: 0 })
  expect(run(plan, asked).seen.slice(-3)).toEqual([
    [500, 'READY'],
    [500, 'TERMINATING'],
    [600, 'TERMINATED'],
  ])
})

test('a stop before READY takes effect when the deployment reaches ERROR instead of READY', () => {
  expect(run({ ...plan, outcome: 'error' }, stop(newborn, 5)).seen.slice(-3)).toEqual([
    [500, 'ERROR'],
    [500, 'TERMINATING'],
    [600, 'TERMINATED'],
  ])
})

test('max_duration that ends before READY has the effect of a stop before READY', () => {
  const { seen } = run({ ...plan, maxDurationMs: 200 })
  expect(seen.slice(-4)).toEqual([
    [200, 'DEPLOYING'],
    [500, 'READY'],
    [500, 'TERMINATING'],
    [600, 'TERMINATED'],
  ])
})

test('a deployment in ERROR is also stopped by max_duration', () => {
  expect(run({ ...plan, outcome: 'error' }).seen.slice(-3)).toEqual([
    [500, 'ERROR'],
    [60_000, 'TERMINATING'],
    [60_100, 'TERMINATED'],
  ])
})

test('a stop at READY or in ERROR takes effect at once, and a second stop changes nothing', () => {
  const ready: Life = { ...newborn, status: 'READY', since: 500 }
  const terminating = stop(ready, 700)
  expect(terminating).toMatchObject({ status: 'TERMINATING', lastStatus: 'READY', since: 700 })
  expect(stop(terminating, 750)).toBe(terminating)
  const terminated = finish(terminating, 800)
  expect(stop(terminated, 900)).toBe(terminated)
  expect(finish(terminated, 900)).toBe(terminated)
  expect(fail(terminated, 900, 'late')).toBe(terminated)
})

const duration = fc.oneof(fc.integer({ min: 0, max: 1000 }), fc.constant(0), fc.constant(Infinity))
const plans = fc.record({
  stages: fc.record({
    INITIALIZING: duration,
    SEEKING: duration,
    SEEKED: duration,
    SCANNING: duration,
    DEPLOYING: duration,
  }),
  timeToDeployMs: duration,
  maxDurationMs: duration,
  terminatingMs: duration,
  outcome: fc.constantFrom<DeploymentPlan['outcome']>('ready', 'error', 'never'),
})

test('every deployment passes its statuses in order, and ends if its limits are finite (property)', () => {
  const order: StatusName[] = [
    'INITIALIZING',
    'SEEKING',
    'SEEKED',
    'SCANNING',
    'DEPLOYING',
    'READY',
    'ERROR',
    'TERMINATING',
    'TERMINATED',
  ]
  fc.assert(
    fc.property(plans, fc.option(fc.nat(3000)), (plan, stopAt) => {
      let life: Life = newborn
      let stopped = stopAt === null
      for (let step = 0; step < 20; step++) {
        const event = nextEvent(life, plan)
        const now: Life = life
        const due = !stopped && stopAt !== null && stopAt >= life.since && (event === undefined || stopAt <= event.at)
        if (!due && event === undefined) break
        life = due ? stop(life, stopAt) : (event as NonNullable<typeof event>).life
        if (due) stopped = true
        expect(life.since).toBeGreaterThanOrEqual(now.since)
        expect(order.indexOf(life.status)).toBeGreaterThanOrEqual(order.indexOf(now.status))
        if (now.stopRequested) expect(life.stopRequested).toBe(true)
        expect(life.error !== undefined).toBe(
          life.status === 'ERROR' || (isEnding(life.status) && life.error !== undefined),
        )
      }
      expect(nextEvent(life, plan)).toBeUndefined()
      const limited = plan.timeToDeployMs < Infinity && plan.terminatingMs < Infinity
      if (limited) expect(isStarting(life.status)).toBe(false)
      if (limited && (life.stopRequested || plan.maxDurationMs < Infinity)) expect(life.status).toBe('TERMINATED')
    }),
  )
})
