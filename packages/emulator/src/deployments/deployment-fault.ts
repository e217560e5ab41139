/**
 * How a deployment can go wrong.
 * - `stay deploying`: it is never READY. Once the version's time_to_deploy has passed, it is in ERROR, as the service
 *   promises.
 * - `error`: it goes to ERROR where it should have become READY.
 * - `no capacity`: no server can be allocated for it.
 */
export type DeploymentFault = 'stay deploying' | 'error' | 'no capacity'
