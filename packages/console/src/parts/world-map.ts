// pure: the position of a location on the world map, and the placement of city names
import { mapExtent } from './world-outline.js'

const { width: mapWidth, middle: mapMiddle, north } = mapExtent
const DEGREE = Math.PI / 180

/** The Natural Earth projection: polynomials fitted to a hand-drawn shape (T. Patterson, B. Šavrič et al.). */
const across = (latitude: number) => {
  const square = (latitude * DEGREE) ** 2
  const fourth = square * square
  return 0.8707 - 0.131979 * square + fourth * (-0.013791 + fourth * (0.003971 * square - 0.001529 * fourth))
}
const up = (latitude: number) => {
  const square = (latitude * DEGREE) ** 2
  const fourth = square * square
  const factor = 1.007226 + square * (0.015085 + fourth * (-0.044475 + 0.028874 * square - 0.005916 * fourth))
  return latitude * DEGREE * factor
}
const SCALE = mapWidth / (2 * Math.PI * across(0))

/** Returns the map coordinates of a location, counted from the north-west corner. Longitudes may exceed 180 degrees. */
export function onMap({ latitude, longitude }: { readonly latitude: number; readonly longitude: number }): {
  readonly x: number
  readonly y: number
} {
  const east = ((((longitude - mapMiddle + 180) % 360) + 360) % 360) - 180
  return {
    x: rounded(mapWidth / 2 + SCALE * east * DEGREE * across(latitude)),
    y: rounded(SCALE * (up(north) - up(latitude))),
  }
}

const rounded = (value: number) => Math.round(value * 10) / 10

/** A dot on the map, in pixels at the smallest size at which the map shows names. */
export interface Dot {
  readonly id: string
  readonly x: number
  readonly y: number
  readonly radius: number
  /** The dot's name. Undefined: the dot shows no name, but the names of other dots must not cover it. */
  readonly text: string | undefined
}

/** The position of a name relative to the dot's centre. `y` is the baseline. */
export interface Label {
  readonly x: number
  readonly y: number
  readonly anchor: 'start' | 'middle' | 'end'
}

interface Box {
  readonly left: number
  readonly top: number
  readonly right: number
  readonly bottom: number
}

/** Width that is assumed for a letter, in pixels at a font size of 11. Most letters need less. */
const LETTER = 6.4
const ASCENT = 9
const DESCENT = 3
const GAP = 3

const overlap = (a: Box, b: Box) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
const boxOf = ({ x, y, radius }: Dot): Box => ({
  left: x - radius,
  top: y - radius,
  right: x + radius,
  bottom: y + radius,
})

/**
 * Places each name where it covers no dot and no other name, and is not cut off at an edge. Earlier dots choose first.
 * A name that does not fit is omitted: the dot's tooltip shows it, and a table lists all names.
 */
export function placeLabels(dots: readonly Dot[], width: number, height: number): ReadonlyMap<string, Label> {
  const taken = dots.map(boxOf)
  const labels = new Map<string, Label>()
  for (const dot of dots) {
    if (dot.text === undefined) continue
    const half = (dot.text.length * LETTER) / 2
    const fits = (box: Box) => box.left >= 0 && box.top >= 0 && box.right <= width && box.bottom <= height
    for (const label of candidates(dot.radius)) {
      const box = boxAt(dot, label, half)
      if (!fits(box) || taken.some((other) => overlap(box, other))) continue
      taken.push(box)
      labels.set(dot.id, label)
      break
    }
  }
  return labels
}

const candidates = (radius: number): readonly Label[] => [
  { x: radius + GAP, y: 4, anchor: 'start' },
  { x: -radius - GAP, y: 4, anchor: 'end' },
  { x: 0, y: -radius - GAP, anchor: 'middle' },
  { x: 0, y: radius + GAP + ASCENT, anchor: 'middle' },
]

function boxAt({ x, y }: Dot, label: Label, half: number): Box {
  const middle = x + label.x + { start: half, middle: 0, end: -half }[label.anchor]
  const base = y + label.y
  return { left: middle - half, top: base - ASCENT, right: middle + half, bottom: base + DESCENT }
}
