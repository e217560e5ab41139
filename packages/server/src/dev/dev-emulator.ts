import { Conflict, createClient } from '@muster/core'
import type { Queue } from '@muster/matchmaker'
import { createEmulator, type ContainerSpec } from '@muster/emulator'

export interface DevEmulator {
  readonly url: string
  readonly token: string
  /** Makes the applications that queues deploy, as far as they are missing. */
  readonly prepare: (queues: readonly Queue[]) => Promise<void>
  readonly close: () => Promise<void>
}

/** Servers start within a second or two. */
const SPEED = 5

/**
 * Listens on this machine alone, so that its token need be no secret.
 * @param port is free.
 */
export async function openDevEmulator(port: number): Promise<DevEmulator> {
  const token = 'dev'
  const emulator = createEmulator({ speed: SPEED, token, launch: register })
  const { url } = await emulator.listen({ port })
  const client = createClient({ baseUrl: url, token })
  const made = new Set<string>()

  const make = async (what: string, create: () => Promise<unknown>) => {
    if (made.has(what)) return
    made.add(what)
    await create().catch((error: unknown) => {
      if (!(error instanceof Conflict)) throw error
    })
  }
  const prepare = async (queues: readonly Queue[]) => {
    for (const { deploy } of queues) {
      const { application, version } = deploy
      await make(application, () => client.applications.create({ name: application }))
      await make(`${application} ${version}`, () =>
        client.versions.create({
          app_name: application,
          name: version,
          docker_repository: 'registry.example.com',
          docker_image: 'studio/server',
          docker_tag: version,
          req_cpu: 256,
          req_memory: 512,
          ports: [{ name: 'game', port: 7777, protocol: 'UDP' }],
        }),
      )
    }
  }
  return {
    url,
    token,
    prepare,
    close: async () => {
      await client.close()
      await emulator.close()
    },
  }
}

/**
 * Registers in place of the server that there is not: nothing listens at its port. Deployments stay simulated, at ports
 * of this machine.
 */
async function register({ env }: Pick<ContainerSpec, 'env'>): Promise<undefined> {
  const { MM_REGISTRATION_URL: url, MM_REGISTRATION_SECRET: secret, MM_MATCH_ID: match_id } = env
  if (url === undefined) return
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
  // A match that was given up meanwhile is refused, and so is everything while the program ends.
  await fetch(url, { method: 'POST', headers, body: JSON.stringify({ match_id }) }).catch(() => {})
}
