/** What a container is started with. */
export interface ContainerSpec {
  readonly request_id: string
  /** registry/image:tag */
  readonly image: string
  readonly command: string | null
  readonly arguments: string | null
  /** The version's variables, the deployment's, and the injected ones. Holds secrets. */
  readonly env: Readonly<Record<string, string>>
  /**
   * A local process must listen on `internal`, which here is the same port as `external`: processes of one machine
   * share its ports.
   */
  readonly ports: readonly ContainerPort[]
}

export interface ContainerPort {
  readonly name: string
  readonly internal: number
  readonly external: number
  readonly protocol: string
}

export interface Container {
  /** Resolves with the exit code when the container has ended, by itself or by `stop`. Never rejects. */
  readonly exited: Promise<number>
  /** Asks it to end (SIGTERM), and makes it end after `graceMs` of the machine's time. */
  stop(graceMs: number): void
  /** What it has written so far (or the last part of it). */
  logs(): string
}

/**
 * Runs a container, e.g. as a local process (see `launchProcess`). Called when a deployment goes to
 * DEPLOYING; rejecting or throwing sends it to ERROR, and undefined leaves this one simulated.
 */
export type Launch = (spec: ContainerSpec) => Container | undefined | Promise<Container | undefined>
