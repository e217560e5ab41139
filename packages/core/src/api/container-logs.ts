import { z } from 'zod'
import { integer, maybe, named, text, type Maybe } from './fields.js'

/** What the container wrote (service-api, Container logs). Unavailable once the deployment is terminated. */
export interface ContainerLogs {
  /** The text, in the encoding given beside it. */
  readonly logs?: Maybe<string>
  /** Its values are not shown; utf-8 in the emulator. */
  readonly encoding?: Maybe<string>
  /** The text of the run that crashed. */
  readonly crash_logs?: Maybe<string>
  /** How it crashed. */
  readonly crash_data?: Maybe<{
    /** Exit code of the process. */
    readonly exit_code?: Maybe<number>
    /** A text for people. */
    readonly message?: Maybe<string>
    /** Number of restarts of the container. */
    readonly restart_count?: Maybe<number>
  }>
  /** Where the text can be fetched. */
  readonly logs_link?: Maybe<string>
}

export const ContainerLogs = named<ContainerLogs>('ContainerLogs', z.looseObject({
  logs: maybe(text),
  encoding: maybe(text),
  crash_logs: maybe(text),
  crash_data: maybe(
    z.looseObject({ exit_code: maybe(integer), message: maybe(text), restart_count: maybe(integer) }),
  ),
  logs_link: maybe(text),
}))
