import { Problem } from '@muster/core/http'
import { unknownQueue } from '../errors.js'
import type { Player } from '@muster/servers'
import type { TicketService } from './service.js'

/** The parts of a player's own request that a queue may distrust. */
export type Stated = Pick<Player, 'attributes' | 'roles' | 'avoid'>

/**
 * Refuses statements of a player that a queue does not believe.
 * @param latencies as the player reports them; undefined if none was measured.
 * @throws {Problem} 400 naming the statement.
 * @throws {UnknownQueue}
 */
export type CheckStatements = (
  stated: Stated,
  latencies: Player['latencies'] | undefined,
  queues: readonly string[],
) => void

/**
 * Creates the check of players' statements.
 * @param names returns the names of all queues, for the error about an unknown queue.
 */
export function createCheckStatements(
  service: Pick<TicketService, 'playerMayState'>,
  names: () => readonly string[],
): CheckStatements {
  return ({ attributes, roles, avoid }, latencies, queues) => {
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

/** The problem for a statement that is not believed. Names are cut, because they may be of any length. */
function refused(field: string, name: string, queue: string): Problem {
  const short = field.slice(0, 140)
  const listed = JSON.stringify(name.slice(0, 128))
  const inQueue = `a player's own word is not believed in ${JSON.stringify(queue)}`
  const message = `${short}: ${inQueue}, unless its playerMayState lists ${listed}`
  return new Problem(400, 'not-believed', message, { field: short })
}
