/**
 * A fault of a deployment.
 * - `stay deploying`: the deployment never becomes READY. Once the version's time_to_deploy has passed, it goes to
 *   ERROR, as the service promises.
 * - `error`: the deployment goes to ERROR instead of READY.
 * - `no capacity`: no server can be allocated for the deployment.
 */
export type DeploymentFault = 'stay deploying' | 'error' | 'no capacity'
