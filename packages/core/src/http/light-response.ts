import { passOn } from './lazy-request.js'

/** What a Response of text or bytes is made of. */
export interface LightAnswer {
  readonly status: number
  /** Names in lower case and values, by turns. */
  readonly headers: readonly string[]
  readonly body: string | Uint8Array | null
}

/** The parts of an answer that `lightResponses` made; undefined if its full Response was needed meanwhile. */
export function partsOf(response: Response): LightAnswer | undefined {
  const made: unknown = response
  return made instanceof LightResponse ? made.parts() : undefined
}

/**
 * Replaces the global Response by one whose `new Response(text)` and `Response.json(value)` make no stream, which takes
 * longer than the rest of a small answer. Everything else about it is as before: all members, `instanceof` either way,
 * subclasses, errors. A body or an option that is not plain makes a full Response at once.
 */
export function lightResponses(): void {
  if (isReplaced) return
  isReplaced = true
  const value: typeof Response = new Proxy(FullResponse, {
    construct: (whole, given: ConstructorParameters<typeof Response>, made): Response => {
      const isOwn = made === value
      const quick = isOwn ? light(given[0], given[1], TEXT) : undefined
      return quick ?? Reflect.construct(whole, given, isOwn ? whole : made)
    },
    get: (whole, key) => (key === 'json' ? jsonResponse : (Reflect.get(whole, key) as unknown)),
  })
  Object.defineProperty(globalThis, 'Response', { value, configurable: true, writable: true, enumerable: false })
}

let isReplaced = false
const TEXT = 'text/plain;charset=UTF-8'
const FullResponse = globalThis.Response

function jsonResponse(data: unknown, init?: ResponseInit): Response {
  const text = JSON.stringify(data) as string | undefined
  return (text === undefined ? undefined : light(text, init, 'application/json')) ?? FullResponse.json(data, init)
}

/** Undefined for anything that a full Response has to check or convert. */
function light(body: unknown, init: ResponseInit | undefined, type: string): Response | undefined {
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) return undefined
  const { status = 200, statusText, headers } = init ?? {}
  if (!BODY_STATUS(status) || statusText !== undefined) return undefined
  const list = headers === undefined ? [] : plainHeaders(headers)
  if (list === undefined) return undefined
  if (typeof body === 'string' && !isNamed(list, 'content-type')) list.push('content-type', type)
  // The handler may change its bytes afterwards.
  const kept = typeof body === 'string' ? body : body.slice()
  return new LightResponse(kept, status, list) as unknown as Response
}

const BODY_STATUS = (status: unknown): boolean =>
  Number.isInteger(status) && Number(status) >= 200 && Number(status) <= 599 && !NO_BODY.has(Number(status))
const NO_BODY = new Set([204, 205, 304])

const NAME = /^[\w-]+$/
/** Printable ASCII without space at its ends, which a full Response would remove. */
const VALUE = /^[!-~](?:[ -~]*[!-~])?$/

/** The headers of a plain object; undefined for anything else, and for what has to be checked or combined. */
function plainHeaders(headers: object): string[] | undefined {
  if (Object.getPrototypeOf(headers) !== Object.prototype) return undefined
  const list: string[] = []
  for (const [name, value] of Object.entries(headers) as [string, unknown][]) {
    const key = name.toLowerCase()
    if (typeof value !== 'string' || !NAME.test(key) || !VALUE.test(value) || isNamed(list, key)) return undefined
    list.push(key, value)
  }
  return list
}

function isNamed(list: readonly string[], name: string): boolean {
  for (let index = 0; index < list.length; index += 2) if (list[index] === name) return true
  return false
}

class LightResponse {
  readonly #body: string | Uint8Array
  readonly #status: number
  readonly #headers: readonly string[]
  #real: Response | undefined

  constructor(body: string | Uint8Array, status: number, headers: readonly string[]) {
    this.#body = body
    this.#status = status
    this.#headers = headers
  }

  get status(): number {
    return this.#status
  }

  get ok(): boolean {
    return this.#status <= 299
  }

  /** Creates the full Response, or returns the one created before. */
  real(): Response {
    return (this.#real ??= this.#whole())
  }

  #whole(): Response {
    const headers: [string, string][] = []
    for (let index = 0; index + 1 < this.#headers.length; index += 2)
      headers.push([this.#headers[index] as string, this.#headers[index + 1] as string])
    return new FullResponse(this.#body as Uint8Array<ArrayBuffer>, { status: this.#status, headers })
  }

  /** Undefined once others may have read the body or changed the headers. */
  parts(): LightAnswer | undefined {
    return this.#real === undefined ? { status: this.#status, headers: this.#headers, body: this.#body } : undefined
  }
}

passOn(LightResponse.prototype, FullResponse.prototype, new FullResponse())
