// Makes world-outline.ts: the coastlines of Natural Earth's land at 1:50m (public domain), simplified for a map
// of some 1,500 pixels. The data is taken as the npm package world-atlas carries it (TopoJSON; ISC):
//
//   cd "$(mktemp -d)" && npm pack world-atlas@2.0.2 && tar xzf *.tgz
//   node <repository>/packages/emulator/src/page/make-world-outline.mjs package > world-outline.ts
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Map units per degree in both directions: the projection is equirectangular. */
const SCALE = 5
/** The map's northern and southern limits in degrees. South of it is Antarctica; north of it nobody plays. */
const NORTH = 78
const SOUTH = -56
/** Square map units: corners that add a smaller area, and smaller islands, are left out. */
const CORNER = 2
const ISLAND = 6
const COLUMNS = 118

/** The rings of all polygons, as lists of [longitude, latitude]. */
function ringsOf({ arcs, transform, objects }) {
  const lines = arcs.map((arc) => {
    let x = 0
    let y = 0
    return arc.map(([dx, dy]) => [
      (x += dx) * transform.scale[0] + transform.translate[0],
      (y += dy) * transform.scale[1] + transform.translate[1],
    ])
  })
  // A negative index means that the arc is reversed. Each arc begins where the previous arc ends.
  const line = (index) => (index < 0 ? lines[~index].toReversed() : lines[index])
  const ring = (indexes) => indexes.flatMap((index, at) => (at === 0 ? line(index) : line(index).slice(1)))
  return objects.land.geometries.flatMap(({ arcs: polygons }) => polygons.flatMap((polygon) => polygon.map(ring)))
}

/** Continues a ring beyond 180 degrees where it crosses the antimeridian, so that its lines stay short. */
function unrolled(ring) {
  let turns = 0
  return ring.map(([longitude, latitude], at) => {
    const step = at === 0 ? 0 : longitude - ring[at - 1][0]
    if (Math.abs(step) > 180) turns -= Math.sign(step)
    return [longitude + 360 * turns, latitude]
  })
}

/** Clips a ring to the area between two meridians, one after the other (Sutherland–Hodgman). */
const between = (ring, west, east) =>
  cut(
    cut(ring, west, (longitude) => longitude >= west),
    east,
    (longitude) => longitude <= east,
  )

function cut(ring, meridian, keeps) {
  const kept = []
  for (const [at, point] of ring.entries()) {
    const before = ring.at(at - 1)
    if (keeps(before[0]) !== keeps(point[0])) {
      const share = (meridian - before[0]) / (point[0] - before[0])
      kept.push([meridian, before[1] + share * (point[1] - before[1])])
    }
    if (keeps(point[0])) kept.push(point)
  }
  return kept
}

/** Moves the parts of a ring beyond one edge of the map to the opposite edge. */
const onMap = (ring) =>
  [-360, 0, 360]
    .map((turn) => between(ring, -180 + turn, 180 + turn).map(([longitude, latitude]) => [longitude - turn, latitude]))
    .filter((part) => part.length > 2)

const twiceArea = ([ax, ay], [bx, by], [cx, cy]) => Math.abs((bx - ax) * (cy - ay) - (cx - ax) * (by - ay))

function areaOf(ring) {
  let twice = 0
  for (const [at, [x, y]] of ring.entries()) {
    const [nextX, nextY] = ring[(at + 1) % ring.length]
    twice += x * nextY - nextX * y
  }
  return Math.abs(twice / 2)
}

/** Simplifies a ring (Visvalingam–Whyatt): removes the corner with the smallest triangle, repeatedly. */
function simplified(ring) {
  const points = [...ring]
  while (points.length > 3) {
    let least = Infinity
    let where = 0
    for (let at = 0; at < points.length; at++) {
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

function pathOf(points) {
  let [lastX, lastY] = points[0].map(Math.round)
  let path = `M${lastX}${after(lastY)}l`
  for (const point of points.slice(1)) {
    const [x, y] = point.map(Math.round)
    if (x === lastX && y === lastY) continue
    path += `${after(x - lastX)}${after(y - lastY)}`
    lastX = x
    lastY = y
  }
  return `${path.replace('l ', 'l')}z`
}

const folder = process.argv[2]
const land = JSON.parse(readFileSync(join(folder, 'land-50m.json'), 'utf8'))
const outline = ringsOf(land)
  .filter((ring) => ring.some(([, latitude]) => latitude > SOUTH) && ring.some(([, latitude]) => latitude < NORTH))
  // Antarctica reaches from edge to edge, and slightly over the southern limit.
  .filter((ring) => !ring.some(([, latitude]) => latitude < -80))
  .flatMap((ring) => onMap(unrolled(ring)))
  .map((ring) => ring.map(([longitude, latitude]) => [(longitude + 180) * SCALE, (NORTH - latitude) * SCALE]))
  .filter((ring) => areaOf(ring) >= ISLAND)
  .map(simplified)
  .map(pathOf)
  .join('')

const lines = []
for (let rest = outline; rest !== ''; ) {
  let end = Math.min(COLUMNS, rest.length)
  // Lines are broken only before a number or a command.
  while (end < rest.length && !/[ M-]/.test(rest[end])) end--
  lines.push(rest.slice(0, end).trim())
  rest = rest.slice(end)
}

process.stdout.write(`// pure: the land of the world map
// Made by make-world-outline.mjs from Natural Earth's land at 1:50m, which is in the public domain.

/** The map's edges in degrees, and map units per degree; the projection is equirectangular. */
export const mapExtent = { west: -180, north: ${NORTH}, east: 180, south: ${SOUTH}, unitsPerDegree: ${SCALE} } as const

/** All land except Antarctica: the data of an SVG path, in map units from the north-west corner. */
export const worldOutline = \`
${lines.join('\n')}
\`
`)
