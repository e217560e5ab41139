import type { Surroundings } from '../timers.js'
import type { DeploymentRecord } from './deployment-record.js'
import type { Container, ContainerSpec, Launch } from './launch-process.js'
import { fail, finish, isEnding, isStarting, type Life, nextEvent, stop } from './lifecycle.js'

/** The result of a request to stop a deployment. */
export type StopOutcome = 'stopped' | 'deferred' | 'stopping already' | 'terminated already'

interface DeploymentSimulatorDeps extends Omit<Surroundings, 'random'> {
  /** The containers; undefined if deployments are only simulated. */
  readonly containers: ReturnType<typeof createContainers> | undefined
  /** Called for each status that a deployment reaches. */
  readonly onStatus: (record: DeploymentRecord) => void
}

/**
 * Moves deployments through their lifecycle. The clock, requests, and the starts and ends of containers cause the
 * steps.
 */
export function createDeploymentSimulator({ clock, timers, speed, containers, onStatus }: DeploymentSimulatorDeps) {
  const waits = new Map<DeploymentRecord, () => void>()

  /** Returns the deployment's age in milliseconds of simulated time. */
  const age = (record: DeploymentRecord) => (clock.now() - record.createdAt) * speed

  const enter = (record: DeploymentRecord, life: Life) => {
    const isNew = life.status !== record.life.status
    record.life = life
    if (isNew) arrive(record)
  }

  const arrive = (record: DeploymentRecord) => {
    const { status } = record.life
    record.history.push({ status, at: clock.now() })
    if (status === 'DEPLOYING') void startContainer(record)
    if (status === 'TERMINATING') record.container?.stop(record.graceMs / speed)
    onStatus(record)
  }

  /** Applies the due events and sets a timer for the next one. */
  const goOn = (record: DeploymentRecord): void => {
    const event = nextEvent(record.life, record.plan)
    if (event !== undefined && event.at <= age(record)) {
      enter(record, event.life)
      return goOn(record)
    }
    waits.get(record)?.()
    waits.delete(record)
    if (event === undefined) return
    // The event is applied without reading the clock again, because a timer may fire slightly early.
    const cancel = timers.after(event.at - age(record), () => {
      waits.delete(record)
      enter(record, event.life)
      goOn(record)
    })
    waits.set(record, cancel)
  }

  const startContainer = async (record: DeploymentRecord) => {
    if (containers === undefined || record.site === undefined) return
    const { plan } = record
    // DEPLOYING lasts until the container has started, however long that takes.
    record.plan = { ...plan, stages: { ...plan.stages, DEPLOYING: Infinity } }
    try {
      const container = await containers.start(record)
      record.plan = container === undefined ? plan : { ...plan, terminatingMs: Infinity }
      if (container !== undefined) void watch(record, container.exited)
    } catch (error) {
      const why = error instanceof Error ? error.message : error
      enter(record, fail(record.life, age(record), `the container could not be started: ${why}`))
    }
    goOn(record)
  }

  const watch = async (record: DeploymentRecord, exited: Promise<number>) => {
    const exitCode = await exited
    record.plan = { ...record.plan, terminatingMs: 0 }
    if (record.life.status === 'READY' && exitCode === 0) enter(record, stop(record.life, age(record)))
    else if (record.life.status === 'READY' || isStarting(record.life.status)) crash(record, exitCode)
    if (record.life.status === 'TERMINATING') enter(record, finish(record.life, age(record)))
    goOn(record)
  }

  const crash = (record: DeploymentRecord, exitCode: number) => {
    record.crash = { exitCode, logs: record.container?.logs() ?? '' }
    enter(record, fail(record.life, age(record), `the container ended by itself with exit code ${exitCode}`))
  }

  return {
    /** Records the deployment's current status, and schedules the next steps. */
    begin: (record: DeploymentRecord) => {
      arrive(record)
      goOn(record)
    },

    stop: (record: DeploymentRecord): StopOutcome => {
      const { status } = record.life
      if (status === 'TERMINATED') return 'terminated already'
      if (isEnding(status)) return 'stopping already'
      enter(record, stop(record.life, age(record)))
      goOn(record)
      return isStarting(status) ? 'deferred' : 'stopped'
    },
  }
}

/**
 * Creates the manager of the running containers of all deployments.
 * @param speed divides the grace period, because containers run in real time.
 */
export function createContainers(launch: Launch, speed: number) {
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
    // Ends the container if, while it was starting, the deployment was stopped or the emulator closed.
    if (closed || record.life.status === 'TERMINATING' || record.life.status === 'TERMINATED') end()
    return container
  }

  return {
    /** Starts the deployment's container. Resolves with undefined if the deployment stays simulated. */
    start: async (record: DeploymentRecord): Promise<Container | undefined> => {
      if (closed) return undefined
      const starting = launched(record)
      keep(starting, () => {})
      return starting
    },

    /** Stops all containers. Resolves once all have ended. */
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
