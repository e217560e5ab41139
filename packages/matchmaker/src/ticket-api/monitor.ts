// pure: the answer to the monitor route, which says whether all is well
import type { Inspection } from '../matches/inspection.js'
import type { Beacons } from './beacons.js'
import type { MonitorView } from './schemas.js'

/**
 * The answer to the monitor route.
 * @param inspection undefined while the matchmaker cannot be asked.
 * @param now epoch milliseconds.
 */
export function monitorView(
  inspection: Inspection | undefined,
  beacons: Pick<Beacons, 'failing'> | undefined,
  now: number,
): MonitorView {
  const components: readonly (readonly [name: string, healthy: boolean])[] = [
    ['matchmaker', inspection !== undefined],
    ['deployments', (inspection?.pausedUntil ?? now) <= now],
    ...(beacons === undefined ? [] : [['beacons', !beacons.failing()] as const]),
  ]
  const unhealthy = components.flatMap(([name, healthy]) => (healthy ? [] : [name]))
  return {
    status: unhealthy.length === 0 ? 'healthy' : 'unhealthy',
    healthy_components: components.length - unhealthy.length,
    unhealthy_components: unhealthy.length,
    message: unhealthy.length === 0 ? 'all is well' : `not well: ${unhealthy.join(', ')}`,
  }
}
