import type { Config } from '../config/config.js'
import type { Apis } from './apis.js'

/** What counts now. A reload replaces it as a whole, within one turn of the event loop. */
export interface InForce {
  config: Config
  apis: Apis
}

/** `apis` are set before anything is served. */
export function createInForce(config: Config): InForce {
  let apis: Apis | undefined
  return {
    config,
    get apis() {
      if (apis === undefined) throw new Error('nothing is served yet')
      return apis
    },
    set apis(next) {
      apis = next
    },
  }
}
