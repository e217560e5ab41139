import { ServerError } from '@muster/core'
import type { Deployment, LocationList } from '@muster/core/api'
import { createManualClock } from '@muster/core/clock'
import type { ListLocations } from '@muster/core/internal'
import { describe, expect, test } from 'vitest'
import { ageOf, createCapacityReader } from './deployment-service.js'

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

const page = (number: number, has_next: boolean): LocationList => ({
  locations: [{ latitude: number, longitude: '0' }, { latitude: number + 0.5, longitude: '0' }, { city: 'Atlantis' }],
  pagination: { number, has_next },
})

describe('the places with capacity', () => {
  const version = { application: 'game', version: '1' }

  test('the places with capacity are those of every page of the list', async () => {
    const asked: unknown[] = []
    const list = async (input: ListLocations) => {
      asked.push(input)
      return page(input.page ?? 1, input.page !== 3)
    }
    const read = createCapacityReader({ list }, createManualClock())
    expect((await read(version)).map(({ latitude }) => latitude)).toEqual([1, 1.5, 2, 2.5, 3, 3.5])
    expect(asked).toEqual([1, 2, 3].map((number) => ({ app: 'game', version: '1', limit: 100, page: number })))
  })

  test('the places with capacity that are known after 5 s are used if the list has further pages', async () => {
    const clock = createManualClock()
    const list = async ({ page: number = 1 }: ListLocations) => {
      await clock.sleep(2000)
      return page(number, true)
    }
    const places = await clock.until(createCapacityReader({ list }, clock)(version))
    expect(places.map(({ latitude }) => latitude)).toEqual([1, 1.5, 2, 2.5, 3, 3.5])
  })

  test('the places with capacity are read once for all matches that need them within 2 s', async () => {
    const clock = createManualClock()
    let reads = 0
    const list = async () => {
      reads += 1
      if (reads === 2) throw new ServerError('down')
      return page(1, false)
    }
    const read = createCapacityReader({ list }, clock)
    await Promise.all([read(version), read(version)])
    expect(reads).toBe(1)
    await clock.advance(2000)
    await expect(read(version)).rejects.toThrow('down')
    expect(await read(version)).toHaveLength(2)
    expect(reads).toBe(3)
  })
})
