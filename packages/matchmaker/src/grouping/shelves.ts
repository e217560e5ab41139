// pure: files tickets where others will look for them
import { createChains } from './chains.js'
import { at, type Field } from './field.js'
import { createGrid } from './grid.js'
import { searchRadii, type DistanceStep } from './reach.js'

/** Looks through tickets of one size, the oldest of a place first, until `meet` gives false. */
export type Look = (anchor: number, size: number, meet: (other: number) => boolean) => void

export interface Shelves {
  /** The sizes of tickets that there are. */
  readonly sizes: readonly number[]
  /** Where a ticket should look for others, one place after the other: the nearest first. */
  looksFor(anchor: number): Look[]
}

/** By place, for each radius that a ticket reaches; by network; and all who take anyone. Everything apart by size. */
export function createShelves(field: Field, distance: readonly DistanceStep[]): Shelves {
  const { count, size, level, anyLevel, networks } = field
  const sizes = [...new Set(size)].toSorted((a, b) => a - b)
  const rings = searchRadii(distance).map((rung) => ({ level: rung.level, grid: createGrid(rung.km, field) }))
  const inNetwork = createChains(count * sizes.length, field)
  const anywhere = createChains(sizes.length, field)
  const listOf = (number: number, players: number) => number * sizes.length + sizes.indexOf(players)

  // The youngest first: each goes in front, so that the oldest are found first.
  for (let position = count - 1; position >= 0; position--) {
    const [players, reach, network] = [at(size, position), at(level, position), networks[position]]
    if (field.located(position)) for (const ring of rings) if (reach >= ring.level) ring.grid.insert(position)
    if (network !== undefined) inNetwork.insert(listOf(network, players), position)
    if (reach >= anyLevel) anywhere.insert(listOf(0, players), position)
  }

  const nearby = rings.map(({ grid }): Look => grid.near)
  const lookInNetwork: Look = (anchor, players, meet) => inNetwork.visit(listOf(networks[anchor] as number, players), meet)
  const lookAnywhere: Look = (_, players, meet) => anywhere.visit(listOf(0, players), meet)

  return {
    sizes,
    looksFor: (anchor) => {
      const reach = at(level, anchor)
      const looks = field.located(anchor) ? nearby.filter((_, ring) => (rings[ring]?.level ?? 0) <= reach) : []
      if (networks[anchor] !== undefined) looks.push(lookInNetwork)
      if (reach >= anyLevel) looks.push(lookAnywhere)
      return looks
    },
  }
}
