import type { Deployment } from '@muster/core/api'
import { expect, test } from 'vitest'
import { ageOf } from './deployment-service.js'

const HOUR = 3_600_000
const started = Date.UTC(2026, 0, 31, 8, 15, 30, 250)
const one = { request_id: 'r', current_status: 'Status.READY' }
const start_time = '2026-01-31 08:15:30.250000'

test.each<[how: string, said: Partial<Deployment>, sinceStart: number, age: number | undefined]>([
  ['as both say', { start_time, elapsed_time: 3600 }, HOUR, HOUR],
  ['from its start', { start_time }, HOUR, HOUR],
  ['from a start without parts of a second', { start_time: '2026-01-31 08:15:30' }, HOUR, HOUR + 250],
  ['from the service alone where our clock is fast', { start_time, elapsed_time: 60 }, 25 * HOUR, 60_000],
  ['from the service alone where our clock is slow', { start_time, elapsed_time: 7200 }, -25 * HOUR, 2 * HOUR],
  ['not where nothing is said', {}, HOUR, undefined],
  ['not where nothing that is said can be', { start_time: 'some day', elapsed_time: -1 }, HOUR, undefined],
  ['not from a start to come', { start_time }, -1, undefined],
])('is known %s', (_, said, sinceStart, age) => {
  expect(ageOf({ ...one, ...said }, started + sinceStart)).toBe(age)
})
