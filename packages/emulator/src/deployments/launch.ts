/** The specification of a container to start. */
export interface ContainerSpec {
  readonly request_id: string
  /** registry/image:tag */
  readonly image: string
  readonly command: string | null
  readonly arguments: string | null
  /** The variables of the version and the deployment, and the injected ones. Secrets are among them. */
  readonly env: Readonly<Record<string, string>>
  /**
   * The container's ports. A local process must listen on `internal`, which equals `external` there, because all
   * processes share the machine's ports.
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
  /** Resolves with the exit code when the container has ended, by itself or after `stop`. Never rejects. */
  readonly exited: Promise<number>
  /** Asks the container to end (SIGTERM), and kills it after `graceMs` milliseconds of real time. */
  stop(graceMs: number): void
  /** The container's output so far, or the last part of it. */
  logs(): string
}

/**
 * Starts a container, e.g. as a local process (see `launchProcess`). Called when a deployment reaches DEPLOYING. If
 * `launch` rejects or throws, the deployment goes to ERROR; if it returns undefined, the deployment stays simulated.
 */
export type Launch = (spec: ContainerSpec) => Container | undefined | Promise<Container | undefined>
