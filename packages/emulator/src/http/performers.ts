import { operations, type Operation, type OperationId } from '@muster/core/api'
import { Problem, readBody } from '@muster/core/http'
import type { Strike } from '../faults/faults.js'
import type { Failure, Handlers, NoContent, RequestContext, Success } from '../handlers/handler.js'
import { createReader } from '../input/reader.js'
import type { World } from '../world.js'
import { empty, json, message, type Reply } from './reply.js'

export interface PerformerDeps {
  readonly world: World
  readonly handlers: Handlers
  /** Bytes that a request's body may have. */
  readonly maxBodyBytes: number
  /** Called with each error that a handler throws; the request is answered by 500. */
  readonly onError: (error: unknown, operation: OperationId) => void
}

/**
 * Performs an operation: reads the input from the request, calls the handler and builds the reply. Rejects only when
 * the caller is gone.
 */
export type Performer = (
  request: Request,
  segments: readonly string[],
  query: URLSearchParams,
  strike: Strike | undefined,
) => Promise<Reply>

/** A handler of any operation. The types cannot say here which input belongs to which handler; the description does. */
type AnyHandler = (input: never, context: RequestContext) => AnyAnswer | Promise<AnyAnswer>
type AnyAnswer = Success<unknown, number> | NoContent | Failure<number>

export function createPerformers({
  world,
  handlers,
  maxBodyBytes,
  onError,
}: PerformerDeps): Readonly<Record<OperationId, Performer>> {
  const byGroup: Readonly<Record<string, Readonly<Record<string, AnyHandler>>>> = handlers

  const performer = (id: OperationId, operation: Operation): Performer => {
    const [group, name] = id.split('.') as [string, string]
    const handle = byGroup[group]?.[name] as AnyHandler
    const read = createReader(operation, world.settings)
    const hasBody = operation.method !== 'GET' && operation.method !== 'DELETE'

    return async (request, segments, query, strike) => {
      const body = hasBody ? await bodyOf(request, maxBodyBytes) : undefined
      if (body === tooLarge) return message(413, 'the body is too large', { connection: 'close' })
      const parts = read({ segments, query, headers: request.headers, body })
      if ('problem' in parts) return message(400, parts.problem)
      const context: RequestContext = {
        operation: id,
        world,
        deploymentFault: strike?.deployment,
        webhookFault: strike?.webhooks,
        relayFault: strike?.relay,
        packetFault: strike?.packets,
      }
      try {
        return worded(operation, await handle(parts.input as never, context))
      } catch (error) {
        onError(error, id)
        return message(500, 'internal server error')
      }
    }
  }

  const entries = operations.map(([id, operation]) => [id, performer(id, operation)] as const)
  return Object.fromEntries(entries) as Record<OperationId, Performer>
}

function worded(operation: Operation, answer: AnyAnswer): Reply {
  if (answer.kind === 'no content') return empty(204)
  return json(answer.status ?? operation.success[0] ?? 200, answer.body)
}

const tooLarge = Symbol('too large')

const decoder = new TextDecoder()

async function bodyOf(request: Request, maxBytes: number): Promise<string | typeof tooLarge> {
  try {
    return decoder.decode(await readBody(request, maxBytes))
  } catch (error) {
    if (error instanceof Problem && error.status === 413) return tooLarge
    throw error
  }
}
