import { z } from 'zod'
import { isReserved, LONGEST_TAG, LONGEST_VALUE_BYTES } from './tags.js'

/** The deployment that a queue requests for each match: plain data, e.g. from JSON. */
export interface DeployDefinition {
  /** Name of the application to deploy. */
  readonly application: string
  /** Name of the application version. */
  readonly version: string
  /**
   * Environment variables for the server, in addition to the matchmaker's own, which begin with `MM_`. Each value has
   * at most 4096 bytes (public fact).
   */
  readonly environment?: Readonly<Record<string, string>> | undefined
  /** Environment variables that are marked as hidden to the service. */
  readonly hiddenEnvironment?: Readonly<Record<string, string>> | undefined
  /**
   * Tags for the deployment, each 1 to 40 characters, in addition to the matchmaker's own, which begin with `mm-` and
   * `match-`.
   */
  readonly tags?: readonly string[] | undefined
  /** True uses only locations that have the image cached, as long as any of them has capacity. Default false. */
  readonly requireCachedLocations?: boolean | undefined
  /**
   * Maximum number of milliseconds from create to READY. Then the deployment counts as failed. Default 180,000 (our
   * choice).
   */
  readonly readyTimeoutMs?: number | undefined
  /**
   * Maximum duration of a match in milliseconds from the assignment. Then its server is stopped, even if players are on
   * it. Default 86,400,000, because the service itself ends every deployment after 24 hours (public fact).
   */
  readonly maxDurationMs?: number | undefined
  /**
   * Milliseconds from the assignment after which the match is over and its server is stopped if none of its players has
   * come. Only for servers that report each player who connects to the ticket API (`GET
   * /matches/{match_id}/players/{player_id}`, or `playerCame`), or the present players in a backfill, with the secret
   * of their match. Matches on servers that do not report players would all end. Default: nobody needs to come.
   */
  readonly joinWithinMs?: number | undefined
  /**
   * Milliseconds after READY before players are sent or the probe begins, because a READY server need not listen yet
   * (public fact). Default 0.
   */
  readonly warmUpMs?: number | undefined
  /** How to check that the server listens. Default: a READY server counts as listening once `warmUpMs` is over. */
  readonly probe?: ProbeDefinition | undefined
}

/** How to check that a READY server also listens. */
export type ProbeDefinition = PortProbeDefinition | RegistrationDefinition

/** A probe that contacts a port of the server until a TCP connection is accepted or a UDP datagram is answered. */
export interface PortProbeDefinition {
  readonly kind: 'tcp' | 'udp'
  /** Name of the port in the application version. */
  readonly port: string
  /** Content of the UDP datagram. Default `ping`. Not for TCP. */
  readonly payload?: string | undefined
  /** Timeout of each attempt in milliseconds. Default 1000. */
  readonly timeoutMs?: number | undefined
  /** Timeout of all attempts together in milliseconds. Then the deployment counts as failed. Default 30,000. */
  readonly withinMs?: number | undefined
}

/**
 * A probe in which the server itself reports when players may come: through `serverReady`, with the secret from the
 * hidden variable MM_REGISTRATION_SECRET.
 */
export interface RegistrationDefinition {
  readonly kind: 'registration'
  /**
   * The URL at which your backend or the ticket API accepts the registration. The server receives it as
   * MM_REGISTRATION_URL. Default: that of the ticket API, from the matchmaker's option `apiUrl`.
   */
  readonly url?: string | undefined
  /** Timeout of the registration in milliseconds from READY. Then the deployment counts as failed. Default 60,000. */
  readonly withinMs?: number | undefined
}

type Filled<T, Optional extends keyof T = never> = Readonly<
  { [Key in Exclude<keyof T, Optional>]-?: Exclude<T[Key], undefined> } & { [Key in Optional]?: T[Key] }
>

export type PortProbe = Filled<PortProbeDefinition>
export type Registration = Filled<RegistrationDefinition, 'url'>
export type Probe = PortProbe | Registration

/** A queue's deployment settings, validated, with defaults filled in. */
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

/** The schema of deployment settings. Its output is valid input for it. */
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
