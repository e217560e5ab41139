// pure: the openings of a pool, with the room in their teams
import type { Model, Opening, Slot, TeamShape } from './model.js'
import { createPacking, type Packing } from './packing.js'
import type { Vacancy } from './search-terms.js'

/** The vacancies by slot. Openings of the same shape share a packing. */
export class Vacancies<Facts> extends Map<Slot, Vacancy<Facts>> {
  readonly #packings = new Map<string, Packing>()
  readonly #levels: number

  constructor({ levels }: Pick<Model<Facts>, 'levels'>) {
    super()
    this.#levels = levels.length
  }

  add(slot: Slot, { rooms, present }: Opening<Facts>): void {
    const shape = rooms.join()
    const packing = this.#packings.get(shape) ?? createPacking(rooms.map((max) => this.#teamOf(max)))
    this.#packings.set(shape, packing)
    this.set(slot, { slot, packing, rooms, present, everyone: present.flat() })
  }

  /** An opening accepts any number of players, so its teams have no minimum. */
  #teamOf(max: number): Pick<TeamShape, 'max' | 'min'> {
    return { max, min: new Uint16Array(this.#levels) }
  }
}
