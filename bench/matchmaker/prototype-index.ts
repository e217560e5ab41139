import { CHORD_LIMITS, SKILL_LIMITS } from './prototype-columns.js'

const KM_PER_DEGREE = 111.195
const MOST_SKILL = 3000

/** How far a level's cells and bands reach, and the step from which a ticket is in it. */
const LEVELS = [
  { km: 100, skill: 50, step: 0 },
  { km: 500, skill: 50, step: 0 },
  { km: 1000, skill: 100, step: 1 },
  { km: 2000, skill: 200, step: 2 },
  { km: 5000, skill: 400, step: 3 },
] as const

/** Cells and bands in which all tickets near a ticket are in its own or one beside it: linked lists in arrays. */
export class Level {
  readonly step: number
  readonly rows: number
  readonly rowsPerDegree: number
  /** Cells in each row, and before it. */
  readonly inRow: Int32Array
  readonly before: Int32Array
  readonly bands: number
  readonly bandsPerSkill: number
  /** The first ticket of each list, and of each ticket the next, the one before, and its list: −1 for none. */
  readonly first: Int32Array
  readonly next: Int32Array
  readonly previous: Int32Array
  readonly list: Int32Array

  constructor({ km, skill, step }: (typeof LEVELS)[number], capacity: number) {
    const degrees = km / KM_PER_DEGREE
    this.step = step
    this.rows = Math.ceil(180 / degrees) + 1
    this.rowsPerDegree = 1 / degrees
    this.inRow = new Int32Array(this.rows)
    this.before = new Int32Array(this.rows)
    let cells = 0
    for (let row = 0; row < this.rows; row++) {
      const south = -90 + row * degrees
      const farthest = Math.min(90, Math.max(Math.abs(south), Math.abs(south + degrees)))
      const around = 360 * Math.max(0.02, Math.cos((farthest * Math.PI) / 180))
      this.before[row] = cells
      this.inRow[row] = Math.max(1, Math.floor(around / degrees))
      cells += this.inRow[row] as number
    }
    this.bands = Math.ceil(MOST_SKILL / skill) + 1
    this.bandsPerSkill = 1 / skill
    this.first = new Int32Array(cells * this.bands).fill(-1)
    this.next = new Int32Array(capacity)
    this.previous = new Int32Array(capacity)
    this.list = new Int32Array(capacity).fill(-1)
  }

  link(ticket: number, fromSouth: number, fromWest: number, skill: number): void {
    const row = (fromSouth * this.rowsPerDegree) | 0
    const inRow = this.inRow[row] as number
    const cell = (this.before[row] as number) + Math.min((fromWest * inRow) | 0, inRow - 1)
    const list = cell * this.bands + ((skill * this.bandsPerSkill) | 0)
    const first = this.first[list] as number
    this.next[ticket] = first
    this.previous[ticket] = -1
    if (first >= 0) this.previous[first] = ticket
    this.first[list] = ticket
    this.list[ticket] = list
  }

  /** Returns whether it was in a list. */
  unlink(ticket: number): boolean {
    const list = this.list[ticket] as number
    if (list < 0) return false
    const [next, previous] = [this.next[ticket] as number, this.previous[ticket] as number]
    if (previous >= 0) this.next[previous] = next
    else this.first[list] = next
    if (next >= 0) this.previous[next] = previous
    this.list[ticket] = -1
    return true
  }
}

/** Tickets that can be looked for by place and skill, each in the levels of the steps that it has reached. */
export class TicketIndex {
  readonly capacity: number
  readonly levels: readonly Level[]
  /** x, y, z and skill of each ticket, beside each other. */
  readonly facts: Float32Array
  readonly step: Uint8Array
  /** Degrees from the South Pole, and the part of a circle from the date line. */
  readonly fromSouth: Float32Array
  readonly fromWest: Float32Array

  constructor(capacity: number) {
    this.capacity = capacity
    this.levels = LEVELS.map((level) => new Level(level, capacity))
    this.facts = new Float32Array(capacity * 4)
    this.step = new Uint8Array(capacity)
    this.fromSouth = new Float32Array(capacity)
    this.fromWest = new Float32Array(capacity)
  }

  insert(ticket: number): void {
    const step = this.step[ticket] as number
    const skill = this.facts[ticket * 4 + 3] as number
    for (const level of this.levels) {
      if (level.step > step) break
      level.link(ticket, this.fromSouth[ticket] as number, this.fromWest[ticket] as number, skill)
    }
  }

  remove(ticket: number): void {
    for (const level of this.levels) if (!level.unlink(ticket)) break
  }

  /** Whether two may meet, by the limits of the one that has waited less. */
  mayMeet(one: number, other: number): boolean {
    const { facts } = this
    const step = Math.min(this.step[one] as number, this.step[other] as number)
    const [a, b] = [one * 4, other * 4]
    const gap = (facts[a + 3] as number) - (facts[b + 3] as number)
    const limit = SKILL_LIMITS[step] as number
    if (gap > limit || -gap > limit) return false
    const x = (facts[a] as number) - (facts[b] as number)
    const y = (facts[a + 1] as number) - (facts[b + 1] as number)
    const z = (facts[a + 2] as number) - (facts[b + 2] as number)
    return x * x + y * y + z * z <= (CHORD_LIMITS[step] as number)
  }
}
