import { expect, test } from 'vitest'
import { places } from '../places.js'
import { worldMap } from './page-map.js'
import type { PageLocation, PageState } from './page-state.js'
import { started } from '../emulator.fixture.js'
import { worldOutline } from './world-outline.js'

const empty = (await (await started().emulator.fetch(new Request('http://any/_emulator/state'))).json()) as PageState

function mapOf(changes: Readonly<Record<string, Partial<PageLocation>>>): string {
  const locations = empty.locations.map((location) => ({ ...location, ...changes[location.id] }))
  const running = locations.reduce((total, location) => total + location.running, 0)
  return worldMap({ ...empty, locations, deployments: { ...empty.deployments, running } }).markup
}

const groupOf = (map: string, id: string) => new RegExp(`<g id="at-${id}".*`).exec(map)?.[0] ?? ''
const numbers = (text: string, pattern: RegExp) => Array.from(text.matchAll(pattern), ([, number]) => Number(number))

test('the outline is path data, small, and inside the map', () => {
  expect(worldOutline).toMatch(/^\s*(M\d+[\s-]\d+\s*l[-\d\s]+z\s*)+$/)
  expect(worldOutline.length).toBeLessThan(25_000)
})

test('every place is on the map, north up and east to the right', () => {
  const map = mapOf({})
  expect(map).toMatch(/viewBox="0 0 1800 670"/)
  const spots = map.matchAll(/id="at-([\w-]+)" transform="translate\(([\d.]+) ([\d.]+)\)"/g)
  const at = new Map(Array.from(spots, ([, id, x, y]) => [id, { x: Number(x), y: Number(y) }]))
  expect(at.size).toBe(places.length)
  for (const { x, y } of at.values()) expect(x > 0 && x < 1800 && y > 0 && y < 670).toBe(true)
  expect(at.get('frankfurt')).toEqual({ x: 943.4, y: 139.5 })
  expect(at.get('auckland')).toEqual({ x: 1773.8, y: 574.3 })
})

test('a place without deployments is a small dot', () => {
  expect(groupOf(mapOf({}), 'tokyo')).toMatch(/<title>Tokyo: none<\/title><g class="dot"><circle class="empty" r="4"\/>/)
})

test("a dot's slices are what the deployments do, its area how many there are", () => {
  const map = mapOf({
    tokyo: { ready: 4, running: 4 },
    osaka: { ready: 1, running: 1 },
    paris: { ready: 2, starting: 1, error: 1, running: 4 },
  })
  const paris = groupOf(map, 'paris')
  expect(paris).toContain('<title>Paris: 2 ready, 1 starting, 1 error</title>')
  expect(paris).toContain('class="alarm"')
  const slices = paris.matchAll(/class="slice (\w+)".*?dasharray="(\d+) 100" stroke-dashoffset="(-?\d+)"/g)
  expect(Array.from(slices, ([, ...slice]) => slice)).toEqual([
    ['ready', '50', '0'],
    ['starting', '25', '-50'],
    ['error', '25', '-75'],
  ])
  const [tokyo = 0] = numbers(groupOf(map, 'tokyo'), /stroke-width="([\d.]+)"/g)
  const [osaka = 0] = numbers(groupOf(map, 'osaka'), /stroke-width="([\d.]+)"/g)
  expect(tokyo / osaka).toBeCloseTo(2, 1)
  expect(groupOf(map, 'tokyo')).not.toContain('alarm')
  expect(map).toContain(`aria-label="World map: 9 deployments at 3 of ${places.length} locations.`)
})

test('however many there are, no dot covers the map, and none vanishes', () => {
  const map = mapOf({ tokyo: { ready: 50_000, running: 50_000 }, osaka: { ready: 1, running: 1 } })
  const radii = ['tokyo', 'osaka'].flatMap((id) => numbers(groupOf(map, id), /stroke-width="([\d.]+)"/g))
  expect(radii).toEqual([27, 5])
  expect(map.indexOf('at-osaka')).toBeGreaterThan(map.indexOf('at-tokyo'))
})
