import type { Clock } from '../clock.js'
import { UnexpectedResponse, type MusterError } from './errors.js'
import { readerOf } from './reader.js'
import { headerOf, refusal, withoutSecretsOf } from './refusal.js'
import { factsOf, type Request } from './request.js'
import type { Answer } from './transport.js'

/** What of a request its answer is read by. */
type Asked = Pick<Request, 'id' | 'call' | 'input' | 'operation' | 'progress'>

/**
 * The last hop: the value of an answer.
 * @throws {MusterError} of the class that the status stands for.
 */
export function decode(request: Asked, answer: Answer, clock: Clock): unknown {
  if (answer.status >= 200 && answer.status < 300) return contentOf(request, answer)
  throw refusal(request, answer, clock.now())
}

/**
 * The result of a DELETE whose first try succeeded although its answer was lost, so that the next was told
 * that there is nothing to delete: what was told, as the message of a success.
 */
export function decodeGone({ operation }: Pick<Request, 'operation'>, told: MusterError): unknown {
  const result = operation.output?.safeParse({ message: told.message })
  return result?.success ? result.data : undefined
}

/**
 * The value that a success answer carries: any 2xx counts. Unknown fields pass; a wrong content type with
 * readable JSON is no matter; a body where none is documented is ignored.
 * @throws {UnexpectedResponse} for a body that is empty, is not JSON, or lacks what the code cannot go on without.
 */
function contentOf(request: Asked, answer: Answer): unknown {
  const { output, success } = request.operation
  if (output === undefined) return undefined
  const unexpected = (what: string, field?: string): MusterError =>
    new UnexpectedResponse(`${request.id}: ${what} (status ${answer.status})`, { ...factsOf(request), status: answer.status, field })

  // Documented as possibly without content, e.g. revoke of a relay user.
  if (answer.body === '' && success.includes(204)) return undefined
  if (answer.body === '') throw unexpected('the answer is empty')
  const json = parse(answer.body)
  if (json === undefined) {
    const type = withoutSecretsOf(request, headerOf(answer, 'content-type') ?? 'not given')
    throw unexpected(`the answer is not JSON (${answer.bytes} bytes, content type ${type})`)
  }
  const result = readerOf(output)(json.value)
  if (result.success) return result.data
  const { field, wrong } = result.fault
  throw unexpected(`the answer's ${field === undefined ? 'body' : `field ${field}`} is not as described: it ${wrong}`, field)
}

/** JSON.parse's own error quotes the text, which may hold a secret. */
function parse(text: string): { readonly value: unknown } | undefined {
  try {
    // A byte order mark is no part of JSON, but some servers send one.
    return { value: JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text) }
  } catch {
    return undefined
  }
}
