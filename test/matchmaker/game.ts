import type { Client } from '@muster/core'

/** The application `game` with version `1`, which these matchmakers deploy. */
const version = {
  app_name: 'game',
  name: '1',
  docker_repository: 'registry.example.com',
  docker_image: 'studio/game',
  docker_tag: '1',
  req_cpu: 512,
  req_memory: 512,
  ports: [{ name: 'game', port: 7777, protocol: 'UDP' }],
  termination_grace_period_seconds: 5,
} as const

/**
 * Creates the application and its version on a service.
 * @param timeToDeploy seconds after which the service gives a deployment up
 */
export async function publishGame(client: Client, timeToDeploy?: number): Promise<void> {
  await client.applications.create({ name: 'game', is_active: true })
  await client.versions.create({ ...version, ...(timeToDeploy === undefined ? {} : { time_to_deploy: timeToDeploy }) })
}
