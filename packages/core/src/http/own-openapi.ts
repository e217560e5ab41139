import { STATUS_CODES } from 'node:http'
import { type Json, openApiDocument, present, schemaRef } from '../openapi.js'
import type { Operation } from '../operation.js'
import { isOpen, type Routes } from './own-routes.js'

export interface OwnOpenApiOptions {
  readonly title: string
  readonly version: string
  readonly description: string
  readonly routes: Routes
  /**
   * The description of each group of paths, by the first word of its paths, e.g. `tickets`. Each first word needs one.
   */
  readonly subjects: Readonly<Record<string, string>>
  /** Headers that identify callers in addition to their token, by the name of the scheme. Default: none. */
  readonly headerSchemes?: Readonly<Record<string, { readonly name: string; readonly description: string }>> | undefined
  /** The prefix of every path. Default: none. */
  readonly basePath?: string | undefined
}

/** The schema of every error response: a problem document (RFC 9457). */
const PROBLEM: Json = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'message', 'code'],
  properties: {
    type: { type: 'string', format: 'uri-reference' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    message: { type: 'string', description: 'The same as detail.' },
    code: { type: 'string', description: 'A word for programs.' },
    field: { type: 'string', description: 'The key of the input at fault.' },
    retryAfterMs: { type: 'integer', description: 'Milliseconds after which a repeat may succeed.' },
  },
}

/** Returns the tag of an operation: the first word of its path, e.g. `tickets` for `/tickets/{ticketId}`. */
const tagOf = ({ path }: Operation) => path.split('/')[1] as string

/**
 * Builds the OpenAPI 3.1 document of one of Muster's own APIs.
 * @throws {TypeError} if `subjects` has no text for the first word of a path.
 */
export function ownOpenApiDocument(options: OwnOpenApiOptions): Json {
  const { title, version, description, routes, subjects, headerSchemes = {}, basePath } = options
  const tags = [...new Set(Object.values(routes).map(tagOf))].map((name) => {
    const text = subjects[name]
    if (text === undefined) throw new TypeError(`ownOpenApiDocument: subjects has no text for '${name}'`)
    return { name, description: text }
  })
  const byHeader = Object.fromEntries(
    Object.entries(headerSchemes).map(([scheme, header]) => [scheme, { type: 'apiKey', in: 'header', ...header }]),
  )
  const document = openApiDocument({
    info: {
      title,
      version,
      description,
      contact: { name: 'The operator' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    security: [{ token: [] }, ...Object.keys(byHeader).map((scheme) => ({ token: [], [scheme]: [] }))],
    tags,
    securitySchemes: { token: { type: 'http', scheme: 'bearer' }, ...byHeader },
    schemas: { Problem: PROBLEM },
    operations: Object.entries(routes),
    basePath,
    describe: (name, operation, { hasBody, content }) => {
      const needsNoCaller = isOpen(routes[name] as Routes[string])
      const answers = operation.success.map((status) => [
        status,
        present({ description: STATUS_CODES[status], content: status === 204 ? undefined : content }),
      ])
      return {
        tags: [tagOf(operation)],
        description: needsNoCaller ? 'Anybody may call.' : 'For callers whose token is known.',
        ...(needsNoCaller && { security: [] }),
        responses: { ...Object.fromEntries(answers), ...refusals(operation, needsNoCaller, hasBody) },
      }
    },
  })
  return { ...document }
}

/** Returns the declared errors, and the errors that occur before a handler is called. */
function refusals({ errors }: Operation, needsNoCaller: boolean, hasBody: boolean): Json {
  const before = [400, 429, ...(needsNoCaller ? [] : [401]), ...(hasBody ? [413, 415] : [])]
  const content = { 'application/problem+json': { schema: schemaRef('Problem') } }
  return Object.fromEntries(
    [...before, ...errors].map((status) => [status, { description: STATUS_CODES[status], content }]),
  )
}
