import type { OperationId } from '../api/api.js'
import type { Operation } from '../operation.js'
import type { Comments } from './comments.js'
import { groupOf } from './groups.js'
import { jsonContent, present, schemaRef, type Json } from './json.js'
import { nameOf } from './schemas.js'

/** The answers of each operation, and the schemas of errors. Pure. */

const labels: Readonly<Record<number, string>> = {
  200: 'OK',
  202: 'Accepted',
  204: 'No content',
  400: 'Bad Request',
  401: 'Unauthorized: the token is missing or wrong.',
  403: 'Forbidden',
  404: 'Not Found',
  409: 'Conflict',
  410:
    'Gone: the deployment is already terminated, which for a caller who wants it stopped is a success ' +
    '(status: public fact).',
  422: 'Unprocessable',
  424: 'Failed Dependency: the image cannot be pulled.',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
}

const couldNotAllocate = {
  description:
    "Couldn't Allocate Server (status and body: public facts). The deployment may exist, in error, until the " +
    'request_id is stopped.',
  content: jsonContent(schemaRef('CouldNotAllocateServer')),
}

export const errorSchemas: Readonly<Record<string, Json>> = {
  Error: {
    description: 'The documented body of an error.',
    type: 'object',
    properties: { message: { description: 'For people.', type: 'string' } },
    required: ['message'],
  },
  ErrorNotShown: {
    description:
      'Not shown in the specification. Usually `{message}`, at times an empty object, at times no JSON at all ' +
      '(public facts): the status is what counts.',
    type: 'object',
    properties: { message: { description: 'For people.', type: 'string' } },
  },
  CouldNotAllocateServer: {
    description: 'No server, and what may be left of the attempt.',
    type: 'object',
    properties: {
      request_id: { description: 'Stop this deployment.', type: 'string' },
      message: { description: 'For people.', type: 'string' },
    },
  },
}

export const sharedResponses: Readonly<Record<string, Json>> = {
  TooManyRequests: {
    description:
      'Above the rate limit. Not documented, so neither the status nor the body is sure, and Retry-After may be ' +
      'missing.',
    headers: {
      'Retry-After': { description: 'Seconds to wait, or a date.', schema: { type: ['integer', 'string'] } },
    },
  },
}

export function responsesOf(id: OperationId, { output, success, errors }: Operation, comments: Comments): Json {
  const name = output && nameOf(output)
  const answer = (status: number) =>
    present({
      description: (name !== undefined && status !== 204 && comments[name]?.description) || labels[status],
      content: name === undefined || status === 204 ? undefined : jsonContent(schemaRef(name)),
    })
  const refusal = (status: number) =>
    id === 'deployments.create' && status === 422
      ? couldNotAllocate
      : {
          description: labels[status],
          content: jsonContent(schemaRef(groupOf(id).errorsShown ? 'Error' : 'ErrorNotShown')),
        }
  return {
    ...Object.fromEntries(success.map((status) => [status, answer(status)])),
    ...Object.fromEntries(errors.map((status) => [status, refusal(status)])),
    429: { $ref: '#/components/responses/TooManyRequests' },
  }
}
