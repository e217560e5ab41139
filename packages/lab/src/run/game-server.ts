import type { CreateDeployment } from '@muster/core/api'
import type { Clock } from '@muster/core/clock'
import { type Matchmaker, ServerGone } from '@muster/matchmaker'
import { RegistrationBody, ReportBody } from '@muster/matchmaker/internal'

/**
 * Milliseconds for which a simulated server waits for orders at a time. A server that waits does not count as silent,
 * so it need not report.
 */
const WAIT_MS = 86_400_000

/** Returns the pool of a deployment and the token of its server; undefined for the server of a single match. */
export function pooledServerOf({ environment_variables = [] }: CreateDeployment) {
  const valueOf = (name: string) => environment_variables.find(({ key }) => key === name)?.value
  const [pool, token] = ['MUSTER_POOL', 'MUSTER_SERVER_TOKEN'].map(valueOf)
  return pool === undefined || token === undefined ? undefined : { pool, token }
}

/**
 * Simulates the server of a pool. It registers, and accepts each match immediately until it is stopped. It reports no
 * ends of matches, because a match ends when its players leave.
 */
export async function playGameServer(
  matchmaker: Pick<Matchmaker, 'registerServer' | 'reportServer' | 'waitForServerOrders'>,
  token: string,
  clock: Pick<Clock, 'sleep'>,
): Promise<void> {
  const instance = 'lab'
  let played: readonly string[] = []
  // Waits until the create of the server has been answered, because registration must come after it.
  await clock.sleep(0)
  try {
    let orders: Awaited<ReturnType<Matchmaker['reportServer']>> = matchmaker.registerServer(
      token,
      RegistrationBody.parse({ instance }),
    )
    for (let seq = 0; orders.want !== 'stop';) {
      const { version, matches } = orders
      const isTold = matches.every(({ id }) => played.includes(id))
      if (isTold) {
        orders = await matchmaker.waitForServerOrders(token, { instance, version, waitMs: WAIT_MS })
        continue
      }
      seq += 1
      played = matches.map(({ id }) => id)
      const open = matches.map(({ id, teams }) => ({
        id,
        status: 'open',
        players: Object.fromEntries(teams.flatMap(({ players }) => players.map((player) => [player.id, 'in']))),
      }))
      orders = await matchmaker.reportServer(token, ReportBody.parse({ instance, seq, matches: open }))
    }
  } catch (error) {
    if (!(error instanceof ServerGone)) throw error
  }
}
