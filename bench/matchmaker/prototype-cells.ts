const KM_PER_DEGREE = 111.195

/** Bits of a key below those of the cell: skills from 0 to 3000 in 4096 classes. */
const SKILL_BITS = 12
export const CLASSES_PER_SKILL = 1.3653

/** The Earth in cells of at most so many kilometres a side. A shift moves all cells by that part of their side. */
export class Cells {
  readonly #degrees: number
  readonly #shift: number
  readonly #rows: number
  /** Cells in each row, and before it. */
  readonly #inRow: Int32Array
  readonly #before: Int32Array
  readonly #bits: number

  constructor(sideKm: number, shift = 0) {
    this.#degrees = sideKm / KM_PER_DEGREE
    this.#shift = shift
    this.#rows = Math.ceil(180 / this.#degrees) + 2
    this.#inRow = new Int32Array(this.#rows)
    this.#before = new Int32Array(this.#rows)
    let cells = 0
    for (let row = 0; row < this.#rows; row++) {
      const south = -90 + (row - shift) * this.#degrees
      const north = south + this.#degrees
      const nearest = south <= 0 && north >= 0 ? 0 : Math.min(Math.abs(south), Math.abs(north))
      const around = 360 * Math.max(0, Math.cos((nearest * Math.PI) / 180))
      this.#before[row] = cells
      this.#inRow[row] = Math.max(1, Math.ceil(around / this.#degrees))
      cells += this.#inRow[row] as number
    }
    this.#bits = 32 - Math.clz32(cells)
  }

  /** Of a key. */
  get bits(): number {
    return Math.min(32, this.#bits + SKILL_BITS)
  }

  /** Ascends by cell, within one by class of skill. */
  key(latitude: number, longitude: number, skill: number): number {
    const row = Math.min(((latitude + 90) / this.#degrees + this.#shift) | 0, this.#rows - 1)
    const inRow = this.#inRow[row] as number
    const column = (((longitude + 180) / 360) * inRow + this.#shift) | 0
    const cell = (this.#before[row] as number) + (column >= inRow ? column - inRow : column)
    return ((cell << SKILL_BITS) | (skill * CLASSES_PER_SKILL)) >>> 0
  }
}

export const cellOf = (key: number): number => key >>> SKILL_BITS
