// Creates src/parts/world-outline.ts from the coastlines of Natural Earth's land at 1:50m (public domain). The npm
// package world-atlas has them as TopoJSON (ISC). They are projected by d3-geo, and simplified for a map of some 1,500
// pixels.
//
//   node make-world-outline.mjs > src/parts/world-outline.ts
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { geoGraticule, geoNaturalEarth1, geoNaturalEarth1Raw, geoPath } from 'd3-geo'
import { feature } from 'topojson-client'

/** Width of the map in map units. */
const WIDTH = 1800
/**
 * The meridian in the middle of the map. With this one, the map's edge runs through the Bering Strait and cuts no land.
 */
const MIDDLE = 11
/**
 * The map's northern and southern limits in degrees. Nobody plays north of the first. Antarctica is south of the
 * second.
 */
const NORTH = 78
const SOUTH = -56
/** Minimum area of a corner and of an island in square map units. Smaller ones are omitted. */
const CORNER = 2
const ISLAND = 6
/** Degrees between two lines of latitude or longitude. */
const GRATICULE = 30
const COLUMNS = 118

const yOf = (latitude) => geoNaturalEarth1Raw(0, (latitude * Math.PI) / 180)[1]
const scale = WIDTH / (2 * geoNaturalEarth1Raw(Math.PI, 0)[0])
const height = Math.round((yOf(NORTH) - yOf(SOUTH)) * scale)
const projection = geoNaturalEarth1()
  .rotate([-MIDDLE, 0])
  .scale(scale)
  .translate([WIDTH / 2, yOf(NORTH) * scale])
  .clipExtent([
    [0, 0],
    [WIDTH, height],
  ])

/** The lines of a shape on the map, as lists of [x, y]. */
function linesOf(shape) {
  const lines = []
  const context = {
    moveTo: (x, y) => lines.push([[x, y]]),
    lineTo: (x, y) => lines.at(-1).push([x, y]),
    closePath: () => {},
    arc: () => {},
  }
  geoPath(projection, context)(shape)
  return lines
}

const twiceArea = ([ax, ay], [bx, by], [cx, cy]) => Math.abs((bx - ax) * (cy - ay) - (cx - ax) * (by - ay))

function areaOf(ring) {
  let twice = 0
  for (const [at, [x, y]] of ring.entries()) {
    const [nextX, nextY] = ring[(at + 1) % ring.length]
    twice += x * nextY - nextX * y
  }
  return Math.abs(twice / 2)
}

/**
 * Simplifies a line or a ring (Visvalingam–Whyatt): removes the corner with the smallest triangle, repeatedly. A line
 * keeps its ends.
 */
function simplified(line, ends) {
  const points = [...line]
  while (points.length > 3) {
    let least = Infinity
    let where = 0
    for (let at = ends; at < points.length - ends; at++) {
      const area = twiceArea(points.at(at - 1), points[at], points[(at + 1) % points.length]) / 2
      if (area < least) [least, where] = [area, at]
    }
    if (least >= CORNER) break
    points.splice(where, 1)
  }
  return points
}

/** A number with the separator that it needs after another number. */
const after = (number) => (number < 0 ? String(number) : ` ${number}`)

function pathOf(points, end) {
  let [lastX, lastY] = points[0].map(Math.round)
  let path = `M${lastX}${after(lastY)}l`
  for (const point of points.slice(1)) {
    const [x, y] = point.map(Math.round)
    if (x === lastX && y === lastY) continue
    path += `${after(x - lastX)}${after(y - lastY)}`
    lastX = x
    lastY = y
  }
  return `${path.replace('l ', 'l')}${end}`
}

function wrapped(path) {
  const lines = []
  for (let rest = path; rest !== '';) {
    let end = Math.min(COLUMNS, rest.length)
    // Lines are broken only before a number or a command.
    while (end < rest.length && !/[ M-]/.test(rest[end])) end--
    lines.push(rest.slice(0, end).trim())
    rest = rest.slice(end)
  }
  return lines.join('\n')
}

const atlas = JSON.parse(readFileSync(createRequire(import.meta.url).resolve('world-atlas/land-50m.json'), 'utf8'))
const land = linesOf(feature(atlas, atlas.objects.land))
  .filter((ring) => areaOf(ring) >= ISLAND)
  .map((ring) => pathOf(simplified(ring, 0), 'z'))
const graticule = linesOf(geoGraticule().step([GRATICULE, GRATICULE])()).map((line) => pathOf(simplified(line, 1), ''))

process.stdout.write(`// pure: the land of the world map
// Made by make-world-outline.mjs from Natural Earth's land at 1:50m, which is in the public domain.

/**
 * The map's size in map units, its meridian in the middle, and its limits in degrees. The projection is Natural
 * Earth's.
 */
export const mapExtent = {
  width: ${WIDTH},
  height: ${height},
  middle: ${MIDDLE},
  north: ${NORTH},
  south: ${SOUTH},
} as const

/** All land except Antarctica: the data of an SVG path, in map units from the north-west corner. */
export const worldOutline = \`
${wrapped(land.join(''))}
\`

/** Lines of latitude and longitude, as the data of an SVG path. */
export const graticule = \`
${wrapped(graticule.join(''))}
\`
`)
