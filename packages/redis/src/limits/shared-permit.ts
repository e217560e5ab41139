import type { Clock } from '@muster/core/clock'
import type { Permit } from '@muster/core'
import type { Reports } from './reports.js'
import type { Written } from './unproven.js'

/** What a permit says of its request, for the limit's tokens. */
export class SharedPermit implements Permit, Written {
  readonly id: string
  writtenAt = Number.NaN
  keptUntil: number
  readonly #dueAt: number
  readonly #until: number
  readonly #clock: Clock
  readonly #reports: Reports
  #state: 'held' | 'written' | 'done' = 'held'

  /**
   * @param dueAt when it is good.
   * @param until when its request must be written at the latest.
   * @param keptUntil until when its token is out at least.
   */
  constructor(id: string, dueAt: number, until: number, keptUntil: number, clock: Clock, reports: Reports) {
    this.id = id
    this.#dueAt = dueAt
    this.#until = until
    this.keptUntil = keptUntil
    this.#clock = clock
    this.#reports = reports
  }

  mayWrite(): boolean {
    return this.#clock.now() < this.#until
  }

  written(): void {
    if (this.#state !== 'held') return
    this.#state = 'written'
    this.writtenAt = this.#clock.now()
    this.#reports.written(this)
  }

  answered(): void {
    if (this.#state === 'done') return
    this.#state = 'done'
    this.#reports.answered(this)
  }

  release(): void {
    if (this.#state === 'done') return
    if (this.#state === 'held') this.#reports.unused(this.id, this.#dueAt - this.#clock.now())
    else this.#reports.lost(this)
    this.#state = 'done'
  }
}
