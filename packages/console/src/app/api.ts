import type {
  Action,
  Applied,
  ApplyRequest,
  Audit,
  FoundStories,
  ErrorBody,
  QueueCards,
  Trial,
  TrialRequest,
} from '../wire.js'
import type { ServerList, ServerOutput } from '../wire-servers.js'
import { sentence } from './words.js'

/** Thrown for a refused request. The message can be shown to the operator. */
export class RequestRefused extends Error {
  readonly status: number
  readonly problem: ErrorBody

  constructor(status: number, problem: ErrorBody) {
    super(problem.message)
    this.status = status
    this.problem = problem
  }
}

/** Returns the reason of a failure in words. @param otherwise the text for errors that are no refusal */
export const whyOf = (error: unknown, otherwise = 'The answer could not be read.'): string =>
  error instanceof RequestRefused ? error.message : otherwise

export type Api = ReturnType<typeof createApi>

const acts: Readonly<Record<Action, readonly [things: string, verb: string]>> = {
  'cancel-ticket': ['tickets', 'cancel'],
  'stop-match': ['matches', 'stop'],
  'forgive-cooldown': ['players', 'forgive'],
  'drain-server': ['servers', 'drain'],
  'kill-server': ['servers', 'kill'],
  'revoke-enrolment': ['enrolments', 'revoke'],
}

const unread: ErrorBody = { code: 'unreachable', message: 'The server does not answer.' }
const unknown: ErrorBody = {
  code: 'unreachable',
  message: 'The server did not answer, so the outcome is unknown. Check it before you try again.',
}

/** Creates the requests of the page, except the feed. A failed request rejects with a `RequestRefused`. */
export function createApi(base: string, token: string, send: typeof globalThis.fetch) {
  const call = async <Answer = void>(
    method: string,
    path: string,
    body?: object,
    signal?: AbortSignal,
  ): Promise<Answer> => {
    const answer = await send(base + path, {
      method,
      cache: 'no-store',
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    }).catch((error: unknown) => {
      if (signal?.aborted === true) throw error
      throw new RequestRefused(0, method === 'GET' ? unread : unknown)
    })
    const text = await answer.text()
    if (answer.ok) return (text === '' ? undefined : JSON.parse(text)) as Answer
    throw new RequestRefused(answer.status, problemIn(text, answer.status))
  }
  const part = encodeURIComponent
  return {
    find: (id: string, signal?: AbortSignal) => call<FoundStories>('GET', `find?id=${part(id)}`, undefined, signal),
    servers: (signal?: AbortSignal) => call<ServerList>('GET', 'servers', undefined, signal),
    output: (requestId: string, signal?: AbortSignal) =>
      call<ServerOutput>('GET', `servers/${part(requestId)}/output`, undefined, signal),
    acts: (signal?: AbortSignal) => call<Audit>('GET', 'acts', undefined, signal),
    queues: (signal?: AbortSignal) => call<QueueCards>('GET', 'queues', undefined, signal),
    apply: (queue: string, change: ApplyRequest) => call<Applied>('PUT', `queues/${part(queue)}`, change),
    setPaused: (queue: string, paused: boolean) => call('POST', `queues/${part(queue)}/${paused ? 'pause' : 'resume'}`),
    startTrial: (request: TrialRequest) => call<Trial>('POST', 'trials', request),
    trial: (id: string) => call<Trial>('GET', `trials/${part(id)}`),
    endTrial: (id: string) => call('DELETE', `trials/${part(id)}`),
    act: (action: Action, id: string) => {
      const [things, verb] = acts[action]
      return call('POST', `${things}/${part(id)}/${verb}`)
    },
    letBotsIn: (players: number) => call('POST', 'bots', { players }),
  }
}

function problemIn(text: string, status: number): ErrorBody {
  try {
    const body = JSON.parse(text) as Partial<ErrorBody> | null
    if (typeof body?.message === 'string') {
      return { ...body, code: body.code ?? 'refused', message: sentence(body.message) }
    }
  } catch {
    // The response is not from the console: it is e.g. a proxy's page.
  }
  return { code: 'refused', message: `The server answered with status ${status}.` }
}
