import type { OperationId } from '../api/api.js'
import type { Operation } from '../operation.js'
import { Cancellation } from './cancellation.js'
import type { EncodedInput } from './encode.js'
import { Progress } from './progress.js'

/** One call on its way through the hops: retry, schedule, send, decode. */
export interface Request extends EncodedInput {
  readonly id: OperationId
  readonly operation: Operation
  /** The path's template, which may be shown in events. */
  readonly template: string
  /** Identifies the call in errors and events. */
  readonly call: string
  readonly input: Readonly<Record<string, unknown>>
  /** Higher values first; default 0. */
  readonly priority: number
  /** The caller's check before each attempt is written. */
  readonly mayWrite: (() => boolean) | undefined
  /** Tells when no caller waits for the call any more. */
  readonly cancellation: Cancellation
  readonly progress: Progress
}

/** A request as the first hop makes it. A class for the reason given at `Progress`. */
export class NewRequest implements Request {
  readonly id: OperationId
  readonly operation: Operation
  readonly template: string
  readonly call: string
  readonly input: Request['input']
  readonly path: string
  readonly headers: readonly string[]
  readonly body: string | undefined
  readonly priority: number
  readonly mayWrite: Request['mayWrite']
  readonly cancellation = new Cancellation()
  readonly progress: Progress

  constructor(
    { id, operation, template }: Pick<Request, 'id' | 'operation' | 'template'>,
    { input, call, priority, mayWrite }: Pick<Request, 'input' | 'call' | 'priority' | 'mayWrite'>,
    { path, headers, body }: EncodedInput,
    now: number,
  ) {
    this.id = id
    this.operation = operation
    this.template = template
    this.call = call
    this.input = input
    this.path = path
    this.headers = headers
    this.body = body
    this.priority = priority
    this.mayWrite = mayWrite
    this.progress = new Progress(now)
  }
}

/** The facts that every error and event of the call includes. */
export function factsOf({ id, call, input }: Pick<Request, 'id' | 'call' | 'input'>) {
  const requestId = input['request_id']
  return { operation: id, call, requestId: typeof requestId === 'string' ? requestId : undefined }
}
