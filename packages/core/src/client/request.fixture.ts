import { api } from '../api/api.js'
import { Progress, type Request } from './request.js'

/** Creates a request as the first hop makes it. Default: a GET of a status. */
export function testRequest(
  changes: Partial<Request> & { readonly now?: number; readonly deadline?: number } = {},
): Request {
  const { now = 0, deadline = Number.MAX_SAFE_INTEGER, ...rest } = changes
  return {
    id: 'deployments.get',
    operation: api.deployments.get,
    template: '/v1/status/{request_id}',
    call: 'test-1',
    input: { request_id: 'abc' },
    path: '/v1/status/abc',
    headers: [],
    body: undefined,
    priority: 0,
    mayWrite: undefined,
    cancellation: new AbortController(),
    progress: { ...new Progress(now), deadline },
    ...rest,
  }
}
