import type { Clock } from '../clock.js'
import { deepFreeze } from './deep-freeze.js'
import { UnexpectedResponse, type MusterError } from './errors.js'
import type { EventSink } from './events.js'
import { readableEntries, type ReadableEntries } from './readable-entries.js'
import { readerOf } from './reader.js'
import { headerOf, refusal, withoutSecretsOf } from './refusal.js'
import { factsOf, type Request } from './request.js'
import type { Answer } from './transport.js'

/** The parts of a request that are needed to read its answer. */
type Asked = Pick<Request, 'id' | 'call' | 'input' | 'operation' | 'progress'>

/**
 * The last hop: reads the value of an answer.
 * @throws {MusterError} of the class that the status stands for.
 */
export function decode(request: Asked, answer: Answer, clock: Clock, events: EventSink): unknown {
  if (answer.status >= 200 && answer.status < 300) return contentOf(request, answer, events)
  throw refusal(request, answer, clock.now())
}

/**
 * The result of a DELETE whose first attempt succeeded although its answer was lost, so that the second attempt found
 * nothing to delete. The error's message becomes the message of a success.
 */
export function decodeGone({ operation }: Pick<Request, 'operation'>, told: MusterError): unknown {
  const result = operation.output?.safeParse({ message: told.message })
  return result?.success ? deepFreeze(result.data) : undefined
}

/**
 * The value of a success answer; any 2xx counts. Unknown fields are kept. A wrong content type is ignored if the body
 * is JSON, as is a body where none is documented. List entries that cannot be read are left out and reported. The value
 * is frozen, because equal reads share it and some answers are cached.
 * @throws {UnexpectedResponse} for a body that is empty, is not JSON, or lacks a field that the code requires.
 */
function contentOf(request: Asked, answer: Answer, events: EventSink): unknown {
  const { output, success } = request.operation
  if (output === undefined) return undefined
  const unexpected = (what: string, field?: string): MusterError =>
    new UnexpectedResponse(`${request.id}: ${what} (status ${answer.status})`, {
      ...factsOf(request),
      status: answer.status,
      field,
    })

  // Some operations are documented as possibly without content, e.g. the revocation of a relay user.
  if (answer.body === '' && success.includes(204)) return undefined
  if (answer.body === '') throw unexpected('the answer is empty')
  const json = parse(answer.body)
  if (json === undefined) {
    const type = withoutSecretsOf(request, headerOf(answer, 'content-type') ?? 'not given')
    throw unexpected(`the answer is not JSON (${answer.bytes} bytes, content type ${type})`)
  }
  const read = readerOf(output)
  const result = read(json.value)
  if (result.success) return deepFreeze(result.data)
  const readable = readableEntries(output, json.value)
  const rest = readable && read(readable.json)
  if (rest?.success) {
    tellLeftOut(request, readable?.leftOut ?? [], events)
    return deepFreeze(rest.data)
  }
  const { field, wrong } = result.fault
  throw unexpected(
    `the answer's ${field === undefined ? 'body' : `field ${field}`} is not as described: it ${wrong}`,
    field,
  )
}

/**
 * Emits an event for each entry left out, or a process warning if there is no listener: the entry may be a server that
 * costs money.
 */
function tellLeftOut(request: Asked, leftOut: ReadableEntries['leftOut'], events: EventSink): void {
  const { attempt } = request.progress
  if (!events.listens('unreadable')) {
    const [first] = leftOut
    const others = leftOut.length > 1 ? `, and ${leftOut.length - 1} more` : ''
    process.emitWarning(
      `${request.id}: left out of the answer: ${first?.field} ${first?.wrong}${others}`,
      'MusterWarning',
    )
  }
  for (const { field, wrong } of leftOut)
    events.emit('unreadable', { ...factsOf(request), attempt, field: field ?? '', wrong })
}

/** JSON.parse's own error is not used, because it quotes the text, which may hold a secret. */
function parse(text: string): { readonly value: unknown } | undefined {
  try {
    // A byte order mark is no part of JSON, but some servers send one.
    return { value: JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text) }
  } catch {
    return undefined
  }
}
