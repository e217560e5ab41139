import { z } from 'zod'
import { environmentValue, flag, integer, maybe, named, text, type Masked } from './fields.js'
import { limitedInteger } from './limited.js'

/** Public fact: TCP, UDP, TCP/UDP, HTTP, HTTPS, WS, WSS. */
export type PortProtocol = 'TCP' | 'UDP' | 'TCP/UDP' | 'HTTP' | 'HTTPS' | 'WS' | 'WSS' | (string & {})

/** A port that the container opens. */
export interface VersionPort {
  /** 0 to 59999. */
  readonly port: number
  /** Public fact: TCP, UDP, TCP/UDP, HTTP, HTTPS, WS, WSS. */
  readonly protocol: PortProtocol
  /** Whether the port is tested before the deployment counts as ready. */
  readonly to_check?: boolean | undefined
  /** Whether the service ends TLS in front of the port. */
  readonly tls_upgrade?: boolean | undefined
  /** The key under which deployments show the port. */
  readonly name?: string | undefined
}

/** An environment variable of a version. */
export interface VersionVariable {
  /** Its name in the container. */
  readonly key: string
  /** At most 4096 bytes (public fact). A secret if `is_secret`. */
  readonly value: string
  /** Whether the value is a secret. */
  readonly is_secret?: boolean | undefined
}

/**
 * How deployments of a version share their sockets among sessions. Meanings are public facts; the specification shows
 * none.
 */
export interface SessionConfig {
  /** Default, Seat or Match. */
  readonly kind: 'Default' | 'Seat' | 'Match' | (string & {})
  /** Slots per deployment, at least 1. */
  readonly sockets: number
  /** Deploy when sockets run short. */
  readonly autodeploy?: boolean | undefined
  /** Minutes without a session before the deployment ends. */
  readonly empty_ttl?: number | undefined
  /** Minutes that a session may last. */
  readonly session_max_duration?: number | undefined
}

/** A port that the container opens, as answers carry it. */
export type VersionPortEcho = Masked<VersionPort>

/** An environment variable of a version, as answers carry it. */
export type VersionVariableEcho = Masked<VersionVariable>

/** How deployments share their sockets among sessions, as answers carry it. */
export type SessionConfigEcho = Masked<SessionConfig>

export const VersionPort = named<VersionPort>(
  'VersionPort',
  z.strictObject({
    port: limitedInteger('port'),
    protocol: z.string().min(1),
    to_check: z.boolean().optional(),
    tls_upgrade: z.boolean().optional(),
    name: z.string().min(1).optional(),
  }),
)
export const VersionVariable = named<VersionVariable>(
  'VersionVariable',
  z.strictObject({
    key: z.string().min(1),
    value: environmentValue,
    is_secret: z.boolean().optional(),
  }),
)
export const SessionConfig = named<SessionConfig>(
  'SessionConfig',
  z.strictObject({
    kind: z.string().min(1),
    sockets: z.int().min(1),
    autodeploy: z.boolean().optional(),
    empty_ttl: z.int().min(0).optional(),
    session_max_duration: z.int().min(0).optional(),
  }),
)

export const VersionPortEcho = named<VersionPortEcho>(
  'VersionPortEcho',
  z.looseObject({
    port: maybe(integer),
    protocol: maybe(text),
    to_check: maybe(flag),
    tls_upgrade: maybe(flag),
    name: maybe(text),
  }),
)
export const VersionVariableEcho = named<VersionVariableEcho>(
  'VersionVariableEcho',
  z.looseObject({
    key: maybe(text),
    value: maybe(text),
    is_secret: maybe(flag),
  }),
)
export const SessionConfigEcho = named<SessionConfigEcho>(
  'SessionConfigEcho',
  z.looseObject({
    kind: maybe(text),
    sockets: maybe(integer),
    autodeploy: maybe(flag),
    empty_ttl: maybe(integer),
    session_max_duration: maybe(integer),
  }),
)
