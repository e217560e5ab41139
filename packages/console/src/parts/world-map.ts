// pure: where a place is on the world map
import { mapExtent } from './world-outline.js'

const { width, middle, north } = mapExtent
const DEGREE = Math.PI / 180

/** Natural Earth's projection, a polynomial fitted to a drawing by hand (T. Patterson, B. Šavrič et al.). */
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
const SCALE = width / (2 * Math.PI * across(0))

/** A place in map units, from the north-west corner of the map. Longitudes may be beyond 180 degrees. */
export function onMap({ latitude, longitude }: { readonly latitude: number; readonly longitude: number }): {
  readonly x: number
  readonly y: number
} {
  const east = ((((longitude - middle + 180) % 360) + 360) % 360) - 180
  return {
    x: rounded(width / 2 + SCALE * east * DEGREE * across(latitude)),
    y: rounded(SCALE * (up(north) - up(latitude))),
  }
}

const rounded = (value: number) => Math.round(value * 10) / 10
