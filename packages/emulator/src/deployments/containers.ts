import type { DeploymentRecord } from './deployment-record.js'
import type { Container, ContainerSpec, Launch } from './launch.js'

/** The containers of all deployments that have one. */
export interface Containers {
  /** Undefined when this deployment stays simulated. */
  start(record: DeploymentRecord): Promise<Container | undefined>
  /** Ends them all; resolves when none is left. */
  close(): Promise<void>
}

/** @param speed containers live in the machine's time, so their grace is divided by it. */
export function createContainers(launch: Launch, speed: number): Containers {
  /** Those that are being started, or run. */
  const alive = new Map<Promise<unknown>, () => void>()
  let closed = false

  /** Keeps count of it until it is over. */
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
    // Meanwhile it has been stopped, or the emulator closed.
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
