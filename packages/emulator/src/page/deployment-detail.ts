import type { DeploymentRecord } from '../deployments/deployment-record.js'
import { containerLogs } from '../deployments/container-logs.js'
import type { StatusName } from '../deployments/lifecycle.js'
import { formatB } from '../timestamps.js'
import { shownVariables, withoutSecrets, type ShownVariable } from './mask-secrets.js'
import type { PageDeployment } from './page-state.js'
import { pageDeployment } from './read-page-state.js'

/** What the page of one deployment shows: no secrets, and no addresses of players. */
export interface DeploymentDetail extends PageDeployment {
  readonly now: string
  /** Why it failed, as far as the emulator knows; what the container's launcher said is freed of secrets. */
  readonly failure: string | null
  /** Of a container that ended by itself. */
  readonly exitCode: number | null
  /** Asked to stop, and not stopping yet. */
  readonly stopRequested: boolean
  /** The fleet's policy that wanted it. */
  readonly policy: string | null
  /** Oldest first. Milliseconds; undefined for the one that lasts. */
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
