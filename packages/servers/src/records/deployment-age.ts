// pure: the age of a deployment, by what the service says
import type { Deployment, DeploymentListEntry } from '@muster/core/api'

const MS_PER_SECOND = 1000

/**
 * Milliseconds since the deployment's start; undefined if the service does not tell. The smaller of the ages by
 * `start_time` and by `elapsed_time` is taken: if our clock is wrong by days, the age by `start_time` is useless, and
 * no match should lose its server to that. The unit of `elapsed_time` is not documented; it is taken for seconds (our
 * choice).
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

/**
 * Epoch milliseconds of a time in the service's form `YYYY-MM-DD HH:MM:SS.ffffff`, taken for UTC (our choice); NaN if
 * the text is not a time.
 */
const startOf = (time: string): number => Date.parse(`${time.replace(/(\.\d{3})\d*$/, '$1').replace(' ', 'T')}Z`)
