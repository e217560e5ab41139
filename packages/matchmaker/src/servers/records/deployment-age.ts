// pure: how old a deployment is, as the service says
import type { Deployment, DeploymentListEntry } from '@muster/core/api'

const MS_PER_SECOND = 1000

/**
 * Milliseconds since its start; undefined where the service does not tell. Of what it tells the least: our clock may be
 * wrong by days, which makes `start_time` useless and leaves `elapsed_time` as it is, and nobody should lose a server
 * to that. The unit of `elapsed_time` is not shown: taken for seconds (our choice).
 */
export function ageOf(deployment: Deployment | DeploymentListEntry, now: number): number | undefined {
  const { start_time: start } = deployment
  const elapsed = 'elapsed_time' in deployment ? deployment.elapsed_time : undefined
  const ages: number[] = []
  if (typeof elapsed === 'number' && elapsed >= 0) ages.push(elapsed * MS_PER_SECOND)
  const age = now - startOf(start ?? '')
  if (age >= 0) ages.push(age)
  return ages.length === 0 ? undefined : Math.min(...ages)
}

/** Epoch milliseconds of a time of format A, which is UTC (our choice); NaN if it is none. */
const startOf = (time: string): number => Date.parse(`${time.replace(/(\.\d{3})\d*$/, '$1').replace(' ', 'T')}Z`)
