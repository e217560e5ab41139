import type { DeploymentRecord } from '../deployments/deployment-record.js'
import { containerLogs } from '../deployments/container-logs.js'
import type { StatusName } from '../deployments/lifecycle.js'
import { formatB } from '../timestamps.js'
import { shownVariables, withoutSecrets, type ShownVariable } from './mask-secrets.js'
import type { PageDeployment } from './page-state.js'
import { pageDeployment } from './read-page-state.js'

/** The data of one deployment's page: no secrets, and no players' addresses. */
export interface DeploymentDetail extends PageDeployment {
  readonly now: string
  /** Why the deployment failed, as far as known; secrets in the launcher's messages are masked. */
  readonly failure: string | null
  /** The exit code of a container that ended by itself. */
  readonly exitCode: number | null
  /** Whether a stop was requested that has not begun. */
  readonly stopRequested: boolean
  /** The fleet policy that requested the deployment. */
  readonly policy: string | null
  /** The statuses reached, the oldest first. Durations are milliseconds; undefined for the present status. */
  readonly steps: readonly { readonly status: StatusName; readonly at: string; readonly lastedMs: number | undefined }[]
  readonly ports: readonly {
    readonly name: string
    readonly internal: number
    readonly external: number
    readonly protocol: string
  }[]
  readonly variables: readonly ShownVariable[]
  /** The last lines of the container's output. */
  readonly log: string
}

const LINES = 200

export function deploymentDetail(record: DeploymentRecord, now: number): DeploymentDetail {
  const { environment, hiddenVariables, life, history, policy, crash, site } = record
  const masked = (text: string) => withoutSecrets(text, environment, hiddenVariables)
  const lines = masked(containerLogs(record, now).logs ?? '').split('\n')
  return {
    ...pageDeployment(record, now),
    now: formatB(now),
    failure: life.error === undefined ? null : masked(life.error),
    exitCode: crash?.exitCode ?? null,
    stopRequested: life.stopRequested && life.status !== 'TERMINATING' && life.status !== 'TERMINATED',
    policy: policy?.name ?? null,
    steps: history.map(({ status, at }, index) => {
      const next = history[index + 1]
      return { status, at: formatB(at), lastedMs: next && Math.round(next.at - at) }
    }),
    ports: (site?.ports ?? []).map(({ name, internal, external, protocol }) => ({
      name,
      internal,
      external,
      protocol,
    })),
    variables: shownVariables(environment, hiddenVariables),
    log: lines.slice(-LINES).join('\n'),
  }
}
