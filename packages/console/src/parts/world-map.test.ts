import { geoNaturalEarth1 } from 'd3-geo'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { onMap } from './world-map.js'
import { graticule, mapExtent, worldOutline } from './world-outline.js'

const latitude = fc.double({ min: -90, max: 90, noNaN: true })
const longitude = fc.double({ min: -180, max: 180, noNaN: true })

test('a place on the map is at the position that the projection of d3-geo gives', () => {
  const { width, middle, north } = mapExtent
  const projection = geoNaturalEarth1().rotate([-middle, 0]).scale(1).translate([0, 0])
  const [edge = 0] = projection([middle + 179.999_999, 0]) ?? []
  const scale = width / 2 / edge
  const [, top = 0] = projection([middle, north]) ?? []
  fc.assert(
    fc.property(latitude, longitude, (at, along) => {
      // A meridian exactly at the map's edge may be drawn on either side, so exclude it.
      fc.pre((along - middle + 540) % 360 > 1e-6)
      const [x = 0, y = 0] = projection([along, at]) ?? []
      const place = onMap({ latitude: at, longitude: along })
      expect(Math.abs(place.x - (width / 2 + scale * x))).toBeLessThan(0.11)
      expect(Math.abs(place.y - scale * (y - top))).toBeLessThan(0.11)
    }),
  )
})

test('places between the northern and southern limit are on the map, even beyond 180 degrees', () => {
  const { width, height, north, south } = mapExtent
  fc.assert(
    fc.property(fc.double({ min: south, max: north, noNaN: true }), longitude, (at, along) => {
      const { x, y } = onMap({ latitude: at, longitude: along })
      expect(x >= 0 && x <= width && y >= 0 && y <= height + 0.5).toBe(true)
      expect(Math.abs(onMap({ latitude: at, longitude: along + 360 }).x - x) % width).toBeLessThan(0.2)
    }),
  )
})

test('the outline and the graticule of the map are small path data', () => {
  expect(worldOutline).toMatch(/^\s*(M\d+[\s-]\d+\s*l[-\d\s]+z\s*)+$/)
  expect(worldOutline.length).toBeLessThan(25_000)
  expect(graticule).toMatch(/^\s*(M\d+[\s-]\d+\s*l[-\d\s]+)+$/)
  expect(graticule.length).toBeLessThan(2000)
})
