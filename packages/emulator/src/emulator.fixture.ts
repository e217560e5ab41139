import { createManualClock } from '@muster/core/clock'
import { createEmulator, type Emulator } from './emulator.js'
import type { EmulatorOptions } from './options.js'

export interface Answered {
  readonly status: number
  readonly headers: Headers
  /** The parsed body if it is JSON; undefined if there is none. */
  readonly body: unknown
}

export type Call = (
  method: string,
  target: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<Answered>

/** Calls an operation by its method and path, with the account's token. */
const caller =
  (emulator: Emulator): Call =>
  async (method, target, body, headers = {}) => {
    const response = await emulator.fetch(
      new Request(`http://emulator.invalid${target}`, {
        method,
        headers: { authorization: 'token dev', ...headers },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      }),
    )
    return answered(response)
  }

async function answered(response: Response): Promise<Answered> {
  const text = await response.text()
  const isJson = response.headers.get('content-type') === 'application/json' && text !== ''
  return {
    status: response.status,
    headers: response.headers,
    body: isJson ? (JSON.parse(text) as unknown) : text === '' ? undefined : text,
  }
}

/** Starts an emulator on a manual clock. */
export function started(options: EmulatorOptions = {}) {
  const clock = createManualClock()
  const emulator = createEmulator({ clock, token: 'dev', ...options })
  return { clock, emulator, call: caller(emulator) }
}

/** A version with all required fields. */
export const version = {
  name: '1.0',
  docker_repository: 'registry.example.com',
  docker_image: 'studio/server',
  docker_tag: 'v1',
  req_cpu: 1024,
  req_memory: 2048,
}
