import type {
  Applied,
  ApplyRequest,
  Audit,
  Found,
  Problem,
  QueueCards,
  ServerList,
  StoryAction,
  Trial,
  TrialRequest,
} from '../wire.js'
import { sentence } from './words.js'

/** What a request was refused for, in words to be shown. */
export class Refused extends Error {
  readonly status: number
  readonly problem: Problem

  constructor(status: number, problem: Problem) {
    super(problem.message)
    this.status = status
    this.problem = problem
  }
}

/** Why something failed, in words; other words where it was not a refusal. */
export const whyOf = (error: unknown, otherwise = 'The answer could not be read.'): string =>
  error instanceof Refused ? error.message : otherwise

export interface Api {
  readonly find: (id: string, signal?: AbortSignal) => Promise<Found>
  readonly servers: (signal?: AbortSignal) => Promise<ServerList>
  readonly acts: (signal?: AbortSignal) => Promise<Audit>
  readonly queues: (signal?: AbortSignal) => Promise<QueueCards>
  readonly apply: (queue: string, change: ApplyRequest) => Promise<Applied>
  readonly setPaused: (queue: string, paused: boolean) => Promise<void>
  readonly startTrial: (request: TrialRequest) => Promise<Trial>
  readonly trial: (id: string) => Promise<Trial>
  readonly endTrial: (id: string) => Promise<void>
  readonly act: (action: StoryAction, id: string) => Promise<void>
  readonly letBotsIn: (players: number) => Promise<void>
}

const acts: Readonly<Record<StoryAction, readonly [things: string, verb: string]>> = {
  'cancel-ticket': ['tickets', 'cancel'],
  'stop-match': ['matches', 'stop'],
  'forgive-cooldown': ['players', 'forgive'],
}

const unread: Problem = { code: 'unreachable', message: 'The server does not answer.' }
const unknown: Problem = {
  code: 'unreachable',
  message: 'The server did not answer, so it is not known whether it was done. Look before you try again.',
}

/** The requests of the page other than the feed. Every failure is a Refused. */
export function createApi(base: string, token: string, send: typeof globalThis.fetch): Api {
  const call = async (method: string, path: string, body?: object, signal?: AbortSignal): Promise<unknown> => {
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
      throw new Refused(0, method === 'GET' ? unread : unknown)
    })
    const text = await answer.text()
    if (answer.ok) return text === '' ? undefined : JSON.parse(text)
    throw new Refused(answer.status, problemIn(text, answer.status))
  }
  const part = encodeURIComponent
  return {
    find: async (id, signal) => (await call('GET', `find?id=${part(id)}`, undefined, signal)) as Found,
    servers: async (signal) => (await call('GET', 'servers', undefined, signal)) as ServerList,
    acts: async (signal) => (await call('GET', 'acts', undefined, signal)) as Audit,
    queues: async (signal) => (await call('GET', 'queues', undefined, signal)) as QueueCards,
    apply: async (queue, change) => (await call('PUT', `queues/${part(queue)}`, change)) as Applied,
    setPaused: async (queue, paused) => {
      await call('POST', `queues/${part(queue)}/${paused ? 'pause' : 'resume'}`)
    },
    startTrial: async (request) => (await call('POST', 'trials', request)) as Trial,
    trial: async (id) => (await call('GET', `trials/${part(id)}`)) as Trial,
    endTrial: async (id) => {
      await call('DELETE', `trials/${part(id)}`)
    },
    act: async (action, id) => {
      const [things, verb] = acts[action]
      await call('POST', `${things}/${part(id)}/${verb}`)
    },
    letBotsIn: async (players) => {
      await call('POST', 'bots', { players })
    },
  }
}

function problemIn(text: string, status: number): Problem {
  try {
    const body = JSON.parse(text) as Partial<Problem> | null
    if (typeof body?.message === 'string') {
      return { ...body, code: body.code ?? 'refused', message: sentence(body.message) }
    }
  } catch {
    // Not from the console: a proxy's page, for example.
  }
  return { code: 'refused', message: `The server answered with status ${status}.` }
}
