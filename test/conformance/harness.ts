import { createClient, type Client } from '@muster/core'
import { operations, type Api, type InputOf, type Operation, type OperationId } from '@muster/core/api'
import { createManualClock, type ManualClock } from '@muster/core/clock'
import { createEmulator, type Emulator, type EmulatorOptions } from '@muster/emulator'
import { Agent, type Dispatcher } from 'undici'

/** The emulator on a loopback port and the typed client, connected by HTTP. */
export interface Harness {
  readonly emulator: Emulator
  /** The emulator's clock. It advances only when the test moves it. */
  readonly clock: ManualClock
  readonly url: string
  readonly client: Client
  /** Creates another client of the same service. */
  clientWith(options: { readonly token?: string; readonly tamper?: Tamper }): Client
  /** All responses to any client, in order. */
  readonly answers: readonly RawAnswer[]
  close(): Promise<void>
}

export interface RawAnswer {
  readonly id: OperationId
  readonly status: number
  readonly body: string
}

/** Changes a request before it is sent, like a defective proxy. */
export type Tamper = (request: Dispatcher.DispatchOptions) => Dispatcher.DispatchOptions

export const TOKEN = 'dev'

export async function start(options: EmulatorOptions = {}): Promise<Harness> {
  const clock = createManualClock()
  const emulator = createEmulator({ clock, token: TOKEN, limits: false, ...options })
  const { url } = await emulator.listen()
  const answers: RawAnswer[] = []
  const opened: { close(): Promise<void> }[] = []

  const clientWith: Harness['clientWith'] = ({ token = TOKEN, tamper = (request) => request }) => {
    const bodies: string[] = []
    const agent = new Agent()
    const dispatcher = agent.compose((dispatch) => (request, handler) => {
      const reading = readingBody(handler, (body) => bodies.push(body))
      return dispatch(tamper(request), reading)
    })
    const unlimited = { createDeployment: null, status: null, listDeployments: null, legacyDeploy: null }
    const client = createClient({
      baseUrl: url,
      token,
      dispatcher,
      limits: unlimited,
      retry: { attempts: 1 },
      cacheTtlMs: 0,
    })
    // This client makes one call at a time, so the last body belongs to this response.
    client.events.on('response', ({ operation, status }) => {
      if (status !== undefined) answers.push({ id: operation, status, body: bodies.at(-1) ?? '' })
    })
    opened.push(client, agent)
    return client
  }

  return {
    emulator,
    clock,
    url,
    client: clientWith({}),
    clientWith,
    answers,
    close: async () => {
      for (const each of opened) await each.close()
      await emulator.close()
    },
  }
}

/** Passes a response on, and reports its complete body. */
function readingBody(
  handler: Dispatcher.DispatchHandler,
  complete: (body: string) => void,
): Dispatcher.DispatchHandler {
  const chunks: Buffer[] = []
  return {
    onRequestStart: (controller, context) => handler.onRequestStart?.(controller, context),
    onResponseStart: (controller, status, headers, message) =>
      handler.onResponseStart?.(controller, status, headers, message),
    onResponseData: (controller, chunk) => {
      chunks.push(chunk)
      handler.onResponseData?.(controller, chunk)
    },
    onResponseEnd: (controller, trailers) => {
      complete(Buffer.concat(chunks).toString())
      handler.onResponseEnd?.(controller, trailers)
    },
    onResponseError: (controller, error) => handler.onResponseError?.(controller, error),
  }
}

/** The input type of each operation. */
export type Inputs = {
  readonly [Group in keyof Api]: { readonly [Name in keyof Api[Group]]: InputOf<Api[Group][Name]> }
}

const described = new Map<OperationId, Operation>(operations)

export function operationOf(id: OperationId): Operation {
  const operation = described.get(id)
  if (operation === undefined) throw new Error(`no operation ${id}`)
  return operation
}

/** Returns the value of an operation in an object with the shape of the API. */
export function under<T>(tree: object, id: OperationId): T {
  const [group, name] = id.split('.') as [string, string]
  return (tree as Readonly<Record<string, Readonly<Record<string, T>>>>)[group]?.[name] as T
}

/** Calls an operation by its id. The caller must pass a suitable input. */
export function call(client: Client, id: OperationId, input: unknown): Promise<unknown> {
  return under<(input: unknown) => Promise<unknown>>(client, id)(input)
}
