import type { OperationId } from '../api/api.js'
import type { Operation } from '../operation.js'
import type { Cancellation } from './cancellation.js'
import type { EncodedInput } from './encode.js'
import type { Progress } from './progress.js'

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

/** The facts that every error and event of the call includes. */
export function factsOf({ id, call, input }: Pick<Request, 'id' | 'call' | 'input'>) {
  const requestId = input['request_id']
  return { operation: id, call, requestId: typeof requestId === 'string' ? requestId : undefined }
}
