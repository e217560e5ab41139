import type { CallOptions } from '@muster/core'
import type {
  CreateDeployment,
  Deployment,
  DeploymentCreated,
  DeploymentId,
  DeploymentList,
  DeploymentStopped,
  ListDeployments,
  StopDeployment,
} from '@muster/core/api'

/** What the matchmaker needs of the service; a client's `deployments` is one. It fails with core's errors. */
export interface DeploymentService {
  create(input: CreateDeployment, options?: CallOptions): Promise<DeploymentCreated>
  get(input: DeploymentId, options?: CallOptions): Promise<Deployment>
  stop(input: StopDeployment, options?: CallOptions): Promise<DeploymentStopped>
  list(input: ListDeployments, options?: CallOptions): Promise<DeploymentList>
}

/**
 * Which calls go first where they wait for the same rate limit (whole numbers, higher first): a player
 * waits for the confirmation that a server is READY, and money for the finding of a lost one.
 */
export const priorities = { routine: 0, find: 5, confirm: 10 } as const
