import type { DeploymentRecord } from './deployment-record.js'
import type { Container, ContainerSpec, Launch } from './launch.js'

/** The running containers of all deployments. */
export interface Containers {
  /** Starts the deployment's container; undefined when the deployment stays simulated. */
  start(record: DeploymentRecord): Promise<Container | undefined>
  /** Stops all containers; resolves when all have ended. */
  close(): Promise<void>
}

/**
 * Creates the manager of containers.
 * @param speed divides the grace period, because containers run in real time.
 */
export function createContainers(launch: Launch, speed: number): Containers {
  /** Containers that are starting or running. */
  const alive = new Map<Promise<unknown>, () => void>()
  let closed = false

  /** Tracks a container until it has ended. */
  const keep = (life: Promise<unknown>, end: () => void) => {
    alive.set(life, end)
    const gone = () => void alive.delete(life)
    life.then(gone, gone)
  }

  const launched = async (record: DeploymentRecord) => {
    const container = await launch(specOf(record))
    if (container === undefined) return undefined
    record.container = container
    const end = () => container.stop(record.graceMs / speed)
    keep(container.exited, end)
    // The deployment was stopped, or the emulator closed, while the container was starting.
    if (closed || record.life.status === 'TERMINATING' || record.life.status === 'TERMINATED') end()
    return container
  }

  return {
    start: async (record) => {
      if (closed) return undefined
      const starting = launched(record)
      keep(starting, () => {})
      return starting
    },

    close: async () => {
      closed = true
      for (const end of alive.values()) end()
      while (alive.size > 0) await Promise.allSettled(alive.keys())
    },
  }
}

const specOf = ({ id, image, command, arguments: args, environment, site }: DeploymentRecord): ContainerSpec => ({
  request_id: id,
  image,
  command,
  arguments: args,
  env: environment,
  ports: site?.ports ?? [],
})
