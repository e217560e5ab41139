// pure: the waiting tickets as columns of numbers, and which two of them may meet
import type { Candidate } from './candidate.js'
import { chordLimit, levelAt, type DistanceStep } from './reach.js'

type Column = Float64Array | Uint16Array | Uint8Array

/** Tickets as numbers, by position; position 0 is the oldest. */
export interface Field {
  readonly count: number
  /** Places on a sphere of radius 1; not a number where the place is unknown. */
  readonly x: Float64Array
  readonly y: Float64Array
  readonly z: Float64Array
  /** Players. */
  readonly size: Uint16Array
  /** The distance step in force. */
  readonly level: Uint8Array
  /** The first level at which place does not matter; the number of levels if there is none. */
  readonly anyLevel: number
  /** A number for the network of those whose place is unknown; the same for the same network. */
  readonly networks: readonly (number | undefined)[]
  /** 1 for those that have their group. */
  readonly taken: Uint8Array
  /** Whether its place is known. */
  located(position: number): boolean
  /** The square of the straight line between two; not a number if a place is unknown. */
  squared(a: number, b: number): number
  /** Whether both have waited long enough for each other. */
  compatible(a: number, b: number): boolean
}

/** A cell that is known to exist. */
export const at = (column: Column, position: number): number => column[position] as number

const toRadians = (degrees: number) => (degrees * Math.PI) / 180

/** @param tickets oldest first. */
export function createField(tickets: readonly Candidate[], steps: readonly DistanceStep[], now: number): Field {
  const count = tickets.length
  const [x, y, z] = [new Float64Array(count), new Float64Array(count), new Float64Array(count)]
  const [size, level] = [new Uint16Array(count), new Uint8Array(count)]
  const networks = new Array<number | undefined>(count)
  const numbers = new Map<string, number>()
  const numberOf = (network: string) => {
    const number = numbers.get(network) ?? numbers.size
    numbers.set(network, number)
    return number
  }
  const limits = Float64Array.from(steps, chordLimit)
  const anyLevel = limits.indexOf(Infinity) === -1 ? limits.length : limits.indexOf(Infinity)

  for (const [position, ticket] of tickets.entries()) {
    size[position] = ticket.size
    level[position] = levelAt(steps, now - ticket.createdAt)
    if (ticket.place === undefined) {
      x[position] = y[position] = z[position] = NaN
      networks[position] = ticket.network === undefined ? undefined : numberOf(ticket.network)
    } else {
      const latitude = toRadians(ticket.place.latitude)
      const longitude = toRadians(ticket.place.longitude)
      x[position] = Math.cos(latitude) * Math.cos(longitude)
      y[position] = Math.cos(latitude) * Math.sin(longitude)
      z[position] = Math.sin(latitude)
    }
  }

  const located = (position: number) => !Number.isNaN(at(x, position))

  const squared = (a: number, b: number) => (at(x, a) - at(x, b)) ** 2 + (at(y, a) - at(y, b)) ** 2 + (at(z, a) - at(z, b)) ** 2

  const compatible = (a: number, b: number) => {
    const limit = at(limits, Math.min(at(level, a), at(level, b)))
    // An unknown place makes this comparison false.
    if (limit === Infinity || squared(a, b) <= limit) return true
    const network = networks[a]
    return network !== undefined && network === networks[b]
  }

  return { count, x, y, z, size, level, anyLevel, networks, taken: new Uint8Array(count), located, squared, compatible }
}
