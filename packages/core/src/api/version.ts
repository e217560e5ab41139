import { z } from 'zod'
import { flag, integer, maybe, named, secretText, text, timestampB, type Maybe, type TimestampB } from './fields.js'
import { SessionConfigEcho, VersionPortEcho, VersionVariableEcho } from './version-parts.js'

/** The full specification from which deployments are made (service-api, Application version). */
export interface Version {
  /** Its name, which paths use too. */
  readonly name: string
  /** Whether the version can be deployed. */
  readonly is_active?: Maybe<boolean>
  /** Registry host (the field name is a misnomer). */
  readonly docker_repository?: Maybe<string>
  /** Image name, usually with a namespace or project. */
  readonly docker_image?: Maybe<string>
  /** Image tag. */
  readonly docker_tag?: Maybe<string>
  /** Registry username; not an account credential of the service. */
  readonly private_username?: Maybe<string>
  /** Registry token or password. A secret. */
  readonly private_token?: Maybe<string>
  /** vCPU units, 1024 = 1 vCPU. */
  readonly req_cpu?: Maybe<number>
  /** MB, 1024 = 1 GB. */
  readonly req_memory?: Maybe<number>
  /** GPU units, 1024 = 1 GPU. */
  readonly req_video?: Maybe<number>
  /** Minutes before the automatic stop. */
  readonly max_duration?: Maybe<number>
  /** Whether the container is cached across all locations. */
  readonly force_cache?: Maybe<boolean>
  /** Its values are not shown (0 was sampled). */
  readonly kind?: Maybe<number>
  /** Seconds to wait for the version to deploy before marking it failed. */
  readonly time_to_deploy?: Maybe<number>
  /** How deployments share their sockets among sessions. */
  readonly session_config?: Maybe<SessionConfigEcho>
  /** The ports that the container opens. */
  readonly ports?: Maybe<readonly VersionPortEcho[]>
  /** Environment variables of every deployment. */
  readonly envs?: Maybe<readonly VersionVariableEcho[]>
  /** Whether it is tested that the image can be pulled. */
  readonly verify_image?: Maybe<boolean>
  /** Seconds after SIGTERM before the container stops. */
  readonly termination_grace_period_seconds?: Maybe<number>
  /** Name of the endpoint storage that receives container logs; overrides the default storage of the version. */
  readonly endpoint_storage?: Maybe<string>
  /** Replaces the container's default command. */
  readonly command?: Maybe<string>
  /** Replaces the container's default arguments. */
  readonly arguments?: Maybe<string>
  /** Name of the DNS configuration linked to the deployment. */
  readonly dns_config?: Maybe<string>
  /** true: deploys only in mainland China locations; false: never deploys there. */
  readonly will_deploy_in_mainland_china?: Maybe<boolean>
  /** Format B. */
  readonly create_time?: Maybe<TimestampB>
  /** Format B. */
  readonly last_updated?: Maybe<TimestampB>
}

export const Version = named<Version>('Version', z.looseObject({
  name: text,
  is_active: maybe(flag),
  docker_repository: maybe(text),
  docker_image: maybe(text),
  docker_tag: maybe(text),
  private_username: maybe(text),
  private_token: maybe(secretText),
  req_cpu: maybe(integer),
  req_memory: maybe(integer),
  req_video: maybe(integer),
  max_duration: maybe(integer),
  force_cache: maybe(flag),
  kind: maybe(integer),
  time_to_deploy: maybe(integer),
  session_config: maybe(SessionConfigEcho),
  ports: maybe(z.array(VersionPortEcho)),
  envs: maybe(z.array(VersionVariableEcho)),
  verify_image: maybe(flag),
  termination_grace_period_seconds: maybe(integer),
  endpoint_storage: maybe(text),
  command: maybe(text),
  arguments: maybe(text),
  dns_config: maybe(text),
  will_deploy_in_mainland_china: maybe(flag),
  create_time: maybe(timestampB),
  last_updated: maybe(timestampB),
}))
