import type { Config } from '../config/config.js'
import type { Apis } from './apis.js'

/** What counts now. A reload replaces it as a whole, within one turn of the event loop. */
export class InForce {
  config: Config
  /** Set before anything is served. A plain property: every request reads it. */
  apis!: Apis

  constructor(config: Config) {
    this.config = config
  }
}
