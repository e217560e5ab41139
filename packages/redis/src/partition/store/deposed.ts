import { Conflict } from '@muster/core'

/**
 * Another process has become the leader of the partition, or Redis has lost its data: nothing that this leader still
 * decides counts, and nothing was written.
 */
export class Deposed extends Conflict {
  static {
    this.prototype.name = 'Deposed'
  }

  constructor(partition: string) {
    super(`partition ${partition}: another leader has taken over, or Redis has lost its data`)
  }
}
