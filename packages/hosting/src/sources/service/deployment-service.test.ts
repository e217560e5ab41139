import type { Deployment } from '@muster/core/api'
import { expect, test } from 'vitest'
import { ageOf } from './deployment-service.js'

const HOUR = 3_600_000
const started = Date.UTC(2026, 0, 31, 8, 15, 30, 250)
const one = { request_id: 'r', current_status: 'Status.READY' }
const start_time = '2026-01-31 08:15:30.250000'

test.each<[how: string, said: Partial<Deployment>, sinceStart: number, age: number | undefined]>([
  ['read from start time and elapsed time if both agree', { start_time, elapsed_time: 3600 }, HOUR, HOUR],
  ['computed from its start time', { start_time }, HOUR, HOUR],
  ['computed from a start time without fractions of a second', { start_time: '2026-01-31 08:15:30' }, HOUR, HOUR + 250],
  ['read from the elapsed time if our clock is fast', { start_time, elapsed_time: 60 }, 25 * HOUR, 60_000],
  ['read from the elapsed time if our clock is slow', { start_time, elapsed_time: 7200 }, -25 * HOUR, 2 * HOUR],
  ['unknown without start time and elapsed time', {}, HOUR, undefined],
  ['unknown if start time and elapsed time are invalid', { start_time: 'some day', elapsed_time: -1 }, HOUR, undefined],
  ['unknown if the start time is in the future', { start_time }, -1, undefined],
])('the age of a deployment is %s', (_, said, sinceStart, age) => {
  expect(ageOf({ ...one, ...said }, started + sinceStart)).toBe(age)
})
