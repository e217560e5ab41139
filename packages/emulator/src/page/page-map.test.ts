import { expect, test } from 'vitest'
import { places } from '../places.js'
import { europeMap, worldMap } from './page-map.js'
import type { PageLocation, PageState } from './read-page-state.js'
import { started } from '../emulator.fixture.js'

const empty = (await (await started().emulator.fetch(new Request('http://any/_emulator/state'))).json()) as PageState

type Changes = Readonly<Record<string, Partial<PageLocation>>>

function stateOf(changes: Changes): PageState {
  return { ...empty, locations: empty.locations.map((location) => ({ ...location, ...changes[location.id] })) }
}
const mapOf = (changes: Changes) => worldMap(stateOf(changes)).markup
const europeOf = (changes: Changes) => europeMap(stateOf(changes)).markup

const groupOf = (map: string, id: string) => new RegExp(`<g id="\\w+-${id}".*`).exec(map)?.[0] ?? ''
const radiusAt = (map: string, id: string) => Number(/class="rim" r="([\d.]+)"/.exec(groupOf(map, id))?.[1])

test('every place is on the page map, north up and east to the right', () => {
  const map = mapOf({})
  expect(map).toMatch(/viewBox="0 0 1800 754"/)
  const spots = map.matchAll(/id="world-([\w-]+)" transform="translate\(([\d.]+) ([\d.]+)\)"/g)
  const at = new Map(Array.from(spots, ([, id, x, y]) => [id, { x: Number(x), y: Number(y) }]))
  expect(at.size).toBe(places.length)
  for (const { x, y } of at.values()) expect(x > 0 && x < 1800 && y > 0 && y < 754).toBe(true)
  expect(at.get('frankfurt')).toEqual({ x: 889.8, y: 141.7 })
  expect(at.get('auckland')).toEqual({ x: 1665.3, y: 645.5 })
})

test('a place without deployments is a small dot on the map', () => {
  expect(groupOf(mapOf({}), 'tokyo')).toMatch(
    /<title>Tokyo: none<\/title><g class="dot"><circle class="empty" r="2.4"\/>/,
  )
})

test('the slices of a map dot show the phases of its deployments, and its area their number', () => {
  const map = mapOf({
    tokyo: { ready: 4, deployments: 4 },
    osaka: { ready: 1, deployments: 1 },
    lima: { ready: 2, starting: 1, error: 1, deployments: 4 },
  })
  const lima = groupOf(map, 'lima')
  expect(lima).toContain('<title>Lima: 2 ready, 1 starting, 1 error</title>')
  expect(lima).toContain('class="alarm"')
  const slices = lima.matchAll(/class="slice (\w+)" d="([^"]+)"/g)
  expect(Array.from(slices, ([, ...slice]) => slice)).toEqual([
    ['ready', 'M0 0L0 -9A9 9 0 0 1 0 9z'],
    ['starting', 'M0 0L0 9A9 9 0 0 1 -9 0z'],
    ['error', 'M0 0L-9 0A9 9 0 0 1 0 -9z'],
  ])
  expect(groupOf(map, 'tokyo')).toContain('<circle class="slice ready" r="9"/>')
  expect((radiusAt(map, 'tokyo') - 1) / (radiusAt(map, 'osaka') - 1)).toBeCloseTo(2, 1)
  expect(groupOf(map, 'tokyo')).not.toContain('alarm')
  expect(map).toContain(`aria-label="World map: 9 deployments at 3 of ${places.length} locations.`)
})

test('the size of a map dot has a minimum and a maximum', () => {
  const map = mapOf({ tokyo: { ready: 50_000, deployments: 50_000 }, osaka: { ready: 1, deployments: 1 } })
  expect(['tokyo', 'osaka'].map((id) => radiusAt(map, id))).toEqual([15 + 1, 3 + 1])
  expect(map.indexOf('world-osaka')).toBeGreaterThan(map.indexOf('world-tokyo'))
})

test('place names on the map are beside their dots, even at the edges, and those of Europe on its own map', () => {
  const changes = Object.fromEntries(
    ['auckland', 'tokyo', 'lima', 'paris'].map((id) => [id, { ready: 2, deployments: 2 }]),
  )
  const map = mapOf(changes)
  expect(groupOf(map, 'tokyo')).toMatch(/text-anchor="start">Tokyo 2<\/text>/)
  expect(groupOf(map, 'auckland')).toMatch(/text-anchor="(end|middle)">Auckland 2<\/text>/)
  expect(groupOf(map, 'paris')).toMatch(/class="dot small">.*class="slice ready"/)
  expect(groupOf(map, 'paris')).not.toContain('<text')
  const europe = europeOf(changes)
  expect(groupOf(europe, 'paris')).toContain('>Paris 2</text>')
  expect(europe).not.toContain('tokyo')
  expect(europe).toContain('aria-label="Europe: 2 deployments."')
})

test('the map of Europe has all its places', () => {
  const continent = places.filter(({ location }) => location.continent === 'Europe').map(({ id }) => id)
  const shown = Array.from(europeOf({}).matchAll(/id="europe-([\w-]+)"/g), ([, id]) => id)
  expect(shown.toSorted()).toEqual(continent.toSorted())
})
