import { Problem } from '@muster/core/http'
import { unknownQueue } from '../errors.js'
import type { Player } from '../player.js'
import type { TicketService } from './service.js'

/** What a player's own request says about them. */
export type Stated = Pick<Player, 'attributes' | 'roles' | 'avoid' | 'latencies'>

/**
 * Refuses what a player says of themselves where a queue does not believe it. @throws {Problem} 400 naming it;
 * {UnknownQueue}
 */
export type CheckStatements = (stated: Stated, queues: readonly string[]) => void

/** @param names of all queues, for whoever misspells one. */
export function createCheckStatements(
  service: Pick<TicketService, 'playerMayState'>,
  names: () => readonly string[],
): CheckStatements {
  return ({ attributes, roles, avoid, latencies }, queues) => {
    for (const queue of queues) {
      const believed = service.playerMayState(queue)
      if (believed === undefined) throw unknownQueue(queue, names())
      for (const name in attributes) if (!believed(name)) throw refused(`attributes.${name}`, name, queue)
      if (roles !== undefined && roles.length > 0 && !believed('roles')) throw refused('roles', 'roles', queue)
      if (avoid !== undefined && avoid.length > 0 && !believed('avoid')) throw refused('avoid', 'avoid', queue)
      if (latencies !== undefined && !believed('latencies')) throw refused('attributes.beacons', 'latencies', queue)
    }
  }
}

/** A name may be of any length. */
function refused(field: string, name: string, queue: string): Problem {
  const short = field.slice(0, 140)
  const message = `${short}: a player's own word is not believed in ${JSON.stringify(queue)}, unless its playerMayState lists ${JSON.stringify(name.slice(0, 128))}`
  return new Problem(400, 'not-believed', message, { field: short })
}
