import { createManualClock } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { createRefusals } from './refusals.js'

function open() {
  const clock = createManualClock()
  const said: string[] = []
  return { clock, said, ...createRefusals(clock, (text) => void said.push(text)) }
}

test('refused tokens are logged once a minute by reason, most frequent first', async () => {
  const { clock, said, refused, totals } = open()
  for (let nth = 0; nth < 1000; nth += 1) refused(nth % 10 === 0 ? 'expired' : 'wrong signature')
  await clock.advance(59_000)
  expect(said).toEqual([])
  await clock.advance(1000)
  expect(said).toEqual(['Refused tokens in the last minute: 1000. 900: wrong signature. 100: expired.'])
  await clock.advance(600_000)
  expect(said).toHaveLength(1)
  refused('expired')
  await clock.advance(60_000)
  expect(said[1]).toBe('Refused tokens in the last minute: 1. 1: expired.')
  expect(totals()).toEqual({ expired: 101, 'wrong signature': 900 })
})

test('reasons of refused tokens are limited in number, and further ones are counted together', async () => {
  const { refused, totals } = open()
  for (let nth = 0; nth < 1000; nth += 1) refused(`claim c${nth} is missing`)
  expect(Object.keys(totals())).toHaveLength(33)
  expect(totals()['another reason']).toBe(968)
})

test('close() logs the counts of refused tokens that were not logged yet', async () => {
  const { clock, said, refused, close } = open()
  refused('expired')
  close()
  await clock.advance(0)
  expect(said).toEqual(['Refused tokens in the last minute: 1. 1: expired.'])
  expect(clock.sleepers).toBe(0)
})
