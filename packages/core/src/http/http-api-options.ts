// pure: what an HTTP API is made from
import type { Clock } from '../clock.js'
import type { InputOf, OutputOf } from '../operation.js'
import type { Caller, RequestLimits } from './admission.js'
import type { BodyLimits } from './bodies.js'
import type { AddressOf, Connection } from './client-address.js'
import type { CorsOptions } from './cors.js'
import type { QuickRead } from './input.js'
import type { Problem } from './problem.js'
import type { JsonText } from './reply.js'
import type { Routes } from './routes.js'

/** Facts about a request besides its input. */
export interface Exchange<Who> {
  readonly caller: Who
  /** Canonical IP address of the client, if known. */
  readonly address: string | undefined
  readonly request: Request
}

/**
 * A handler's result: the body of the operation's usual answer (undefined if it has none), its JSON, or any other
 * answer.
 */
type Result<Body> = Body | JsonText | Response | (undefined extends Body ? void : never)

/** A handler for every route; a missing one does not compile. Anonymous routes have no caller. */
export type Handlers<Table extends Routes, Who extends Caller, Anonymous extends keyof Table = never> = {
  readonly [Name in keyof Table]: (
    input: InputOf<Table[Name]>,
    exchange: Exchange<Name extends Anonymous ? undefined : Who>,
  ) => Result<OutputOf<Table[Name]>> | Promise<Result<OutputOf<Table[Name]>>>
}

/** Identifies the caller; undefined for an unknown one. A `Problem` that it throws becomes the answer. */
export interface Authenticate<Who extends Caller> {
  (request: Request, connection: Connection): Who | undefined | Promise<Who | undefined>
  /** The caller of a token that was verified before, if that is known at no cost. Default: none is. */
  readonly recall?: ((request: Request) => Who | undefined) | undefined
  /**
   * Whether the token is signed, as a JSON Web Token is. Such a token cannot be guessed, so it is still checked for an
   * address whose guesses are used up. Default: no token is.
   */
  readonly isSigned?: ((request: Request) => boolean) | undefined
}

export interface HttpApiOptions<Table extends Routes, Who extends Caller, Anonymous extends keyof Table & string> {
  readonly routes: Table
  readonly handlers: Handlers<Table, Who, Anonymous>
  /** Routes that need no caller. */
  readonly anonymous: readonly Anonymous[]
  readonly authenticate: Authenticate<Who>
  readonly clock: Clock
  /** Prefix of every path, e.g. `/lobby-api`. Default none. */
  readonly basePath?: string | undefined
  /**
   * Reads the usual input of a route in a fraction of the time that its schema takes; undefined for any other input,
   * which the schema then decides. Its result must equal the schema's.
   */
  readonly quickReads?: { readonly [Name in keyof Table]?: QuickRead<InputOf<Table[Name]>> } | undefined
  /** Largest body in bytes, for all routes or for each by its name. */
  readonly maxBodyBytes: number | ((route: keyof Table & string) => number)
  /** Limits of unfinished bodies and of their time. Bodies of exempt callers do not count for their address. */
  readonly bodies?: BodyLimits | undefined
  /**
   * Throws the problem of a caller who may not use a route, before the body is read. Anonymous routes have no caller:
   * their proof is in the request. Default: every caller may use every route.
   */
  readonly authorize?:
    | ((route: keyof Table & string, caller: Who | undefined, request: Request) => void | Promise<void>)
    | undefined
  /** Finds the client's address. Default: the socket's other end. */
  readonly address?: AddressOf | undefined
  /** Limits of requests. Default none. */
  readonly limits?: RequestLimits<Who> | undefined
  /** Lets pages of these origins call the API. Default none. */
  readonly cors?: CorsOptions | undefined
  /** Maps an error of the domain to a problem; undefined for other errors. */
  readonly problemOf?: ((error: unknown) => Problem | undefined) | undefined
  /**
   * Called with unexpected errors, of which the client learns nothing but the status: 503 if a shared store is not
   * available, otherwise 500. Default: a process warning.
   */
  readonly onError?: ((error: unknown) => void) | undefined
}
