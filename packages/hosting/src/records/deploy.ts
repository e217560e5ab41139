import { z } from 'zod'
import { isReserved, LONGEST_TAG, LONGEST_VALUE_BYTES } from './tags.js'

/** The deployment that a queue requests for each match: plain data, e.g. from JSON. */
export interface DeployDefinition {
  /** Name of the application to deploy. */
  readonly application: string
  /** Name of the application version. */
  readonly version: string
  /**
   * Environment variables for the server. Names must not begin with `MM_`. The service allows at most 4,096 bytes per
   * value (public fact).
   */
  readonly environment?: Readonly<Record<string, string>> | undefined
  /** Environment variables that the service must hide, e.g. secrets. */
  readonly hiddenEnvironment?: Readonly<Record<string, string>> | undefined
  /** Tags of the deployment, each 1 to 40 characters. They must not begin with `mm-` or `match-`. */
  readonly tags?: readonly string[] | undefined
  /**
   * True if the service should use only locations that have the image cached, as long as one of them has capacity.
   * Default false.
   */
  readonly requireCachedLocations?: boolean | undefined
  /**
   * Milliseconds from the create within which the server must be READY; otherwise it counts as failed. Default 180,000
   * (our choice).
   */
  readonly readyTimeoutMs?: number | undefined
  /**
   * Maximum milliseconds of a match from the assignment of its server. Then the server is stopped, even if players are
   * on it. Default 86,400,000 (24 hours), after which the service itself ends every deployment (public fact).
   */
  readonly maxDurationMs?: number | undefined
  /**
   * Milliseconds from the assignment after which a match without any player is over, and its server is stopped.
   * Requires servers that report players: by `GET /matches/{match_id}/players/{player_id}` of the ticket API, by
   * `playerCame`, in backfills or in reports. Matches on servers that report nobody would all end. Default: no limit.
   */
  readonly joinWithinMs?: number | undefined
  /**
   * Milliseconds that Muster waits after READY, before it probes or assigns the server. A server may be READY before it
   * listens (public fact). Default 0.
   */
  readonly warmUpMs?: number | undefined
  /** How to find out whether a READY server listens. Default: it counts as listening once `warmUpMs` is over. */
  readonly probe?: ProbeDefinition | undefined
}

/** How to find out whether a READY server listens. */
export type ProbeDefinition = PortProbeDefinition | RegistrationDefinition

/** A probe of a port, repeated until the server accepts a TCP connection or answers a UDP datagram. */
export interface PortProbeDefinition {
  readonly kind: 'tcp' | 'udp'
  /** Name of the port in the application version. */
  readonly port: string
  /** Content of the UDP datagram. Default `ping`. Ignored for TCP. */
  readonly payload?: string | undefined
  /** Timeout of each attempt in milliseconds. Default 1000. */
  readonly timeoutMs?: number | undefined
  /** Milliseconds after which the server counts as failed. Default 30,000. */
  readonly withinMs?: number | undefined
}

/**
 * A probe that waits until the server reports, by `serverReady`, that players may come. The server authenticates with
 * the secret in the hidden variable MM_REGISTRATION_SECRET.
 */
export interface RegistrationDefinition {
  readonly kind: 'registration'
  /**
   * URL to which the server reports, passed as MM_REGISTRATION_URL. Default: `/server-ready` of the ticket API, at the
   * matchmaker's option `apiUrl`.
   */
  readonly url?: string | undefined
  /** Milliseconds from READY after which the server counts as failed. Default 60,000. */
  readonly withinMs?: number | undefined
}

type Filled<T, Optional extends keyof T = never> = Readonly<
  { [Key in Exclude<keyof T, Optional>]-?: Exclude<T[Key], undefined> } & { [Key in Optional]?: T[Key] }
>

export type PortProbe = Filled<PortProbeDefinition>
export type Registration = Filled<RegistrationDefinition, 'url'>
export type Probe = PortProbe | Registration

/** Validated deployment settings with defaults filled in. */
export type Deploy = Omit<Filled<DeployDefinition, 'probe' | 'joinWithinMs'>, 'probe'> & {
  readonly probe?: Probe | undefined
}

const milliseconds = z
  .number()
  .min(0)
  .max(7 * 24 * 3600 * 1000)
const duration = milliseconds.positive()

const environment = z
  .record(
    z.string().regex(/^[A-Za-z_]\w*$/, 'must be the name of an environment variable'),
    z
      .string()
      .refine(
        (value) => Buffer.byteLength(value) <= LONGEST_VALUE_BYTES,
        `must be at most ${LONGEST_VALUE_BYTES} bytes of UTF-8`,
      ),
  )
  .superRefine((variables, context) => {
    for (const key of Object.keys(variables)) {
      if (key.startsWith('MM_'))
        context.addIssue({ code: 'custom', path: [key], message: 'names beginning with MM_ are set by the matchmaker' })
    }
  })
  .default({})

const portProbe = {
  port: z.string().min(1),
  payload: z.string().min(1).max(1000).default('ping'),
  timeoutMs: duration.default(1000),
  withinMs: duration.default(30_000),
}

const probe = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('tcp'), ...portProbe }),
  z.strictObject({ kind: z.literal('udp'), ...portProbe }),
  z.strictObject({
    kind: z.literal('registration'),
    url: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }).optional(),
    withinMs: duration.default(60_000),
  }),
])

/** The schema of deployment settings. It also accepts its own output. */
export const deploySchema: z.ZodType<Deploy> = z.strictObject({
  application: z.string().min(1),
  version: z.string().min(1),
  environment,
  hiddenEnvironment: environment,
  tags: z
    .array(
      z
        .string()
        .min(1)
        .max(LONGEST_TAG)
        .refine((tag) => !isReserved(tag), 'tags beginning with mm- and match- are set by the matchmaker'),
    )
    .default([]),
  requireCachedLocations: z.boolean().default(false),
  readyTimeoutMs: duration.default(180_000),
  maxDurationMs: duration.default(24 * 3600 * 1000),
  joinWithinMs: duration.optional(),
  warmUpMs: milliseconds.default(0),
  probe: probe.optional(),
})
