import { canonicalIp, isPublicIp } from '@muster/core'
import { expect, test } from 'vitest'
import { loadPlayers } from './players.js'

const players = loadPlayers()

const share = (part: number) => part / players.length

test('thousands of demo players have distinct public addresses', () => {
  expect(players.length).toBeGreaterThanOrEqual(5_000)
  expect(players.filter(({ ip }) => canonicalIp(ip) !== ip || !isPublicIp(ip))).toEqual([])
  expect(new Set(players.map(({ ip }) => ip)).size).toBe(players.length)
})

test('demo players come from all continents', () => {
  const continents = new Set(players.map(({ continent }) => continent))
  expect([...continents].toSorted()).toEqual(['Africa', 'Asia', 'Europe', 'North America', 'Oceania', 'South America'])
  expect(new Set(players.map(({ country }) => country)).size).toBeGreaterThan(100)
  const ipv6 = players.filter(({ ip }) => ip.includes(':')).length
  expect(share(ipv6)).toBeGreaterThan(0.05)
  expect(share(ipv6)).toBeLessThan(0.25)
})

test('every demo player has a value in every column, and every place is on the map', () => {
  const broken = players.filter(
    ({ latitude, longitude, city, country }) =>
      !(Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180) ||
      (latitude === 0 && longitude === 0) ||
      city === '' ||
      !/^[A-Z]{2}$/.test(country),
  )
  expect(broken).toEqual([])
})

test('the first 600 demo players have the same share of Europeans as all, within 6 points', () => {
  const europeans = (list: typeof players) =>
    list.filter(({ continent }) => continent === 'Europe').length / list.length
  expect(Math.abs(europeans(players.slice(0, 600)) - europeans(players))).toBeLessThan(0.06)
})
