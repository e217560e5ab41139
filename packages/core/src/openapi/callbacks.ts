import type { OperationId } from '../api/api.js'
import { jsonContent, schemaRef, type Json } from './json.js'

/** The calls that the service makes to webhook URLs (service-api, Events). Pure. */

const HINT = 'Not repeated and not signed (public facts): it is a hint, to be confirmed by a read.'

const callback = (url: string, summary: string, schema: string, description: string): Json => ({
  [`{$request.body#/${url}}`]: {
    post: {
      summary,
      description: `${description} ${HINT}`,
      security: [],
      requestBody: { content: jsonContent(schemaRef(schema)) },
      responses: { '2XX': { description: 'Received.' }, '4XX': { description: 'Refused; it does not come again.' } },
    },
  },
})

const statusView = 'The body is not shown; likely the status view (public fact).'

const callbacks: Partial<Record<OperationId, Json>> = {
  'deployments.create': {
    onReady: callback('webhook_on_ready/url', 'The deployment is ready', 'Deployment', statusView),
    onError: callback('webhook_on_error/url', 'The deployment is in error', 'Deployment', statusView),
    onTerminated: callback('webhook_on_terminated/url', 'The deployment is terminated', 'Deployment', statusView),
  },
  'deployments.deployLegacy': {
    onReady: callback(
      'webhook_url',
      'The deployment is ready',
      'Deployment',
      'The body has the content of the status view.',
    ),
  },
  'relays.create': {
    onReady: callback(
      'webhook_url',
      'The data of the session',
      'RelaySession',
      'The body is not shown; likely the session (public fact, unsure).',
    ),
  },
}

export const callbacksOf = (id: OperationId): Json | undefined => callbacks[id]
