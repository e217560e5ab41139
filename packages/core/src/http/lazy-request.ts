import type { IncomingMessage, ServerResponse } from 'node:http'
import { incomingBody, type IncomingBody } from './incoming-body.js'
import { goneSignal, keptWith, pairsOf, realRequest } from './message.js'
import { passOn } from './pass-on.js'

/**
 * A Request of a node:http message that is only created in full when needed. Creating one takes as long as everything
 * else in a small answer, and most handlers use only method, URL, headers and the whole body. These are available
 * directly; any other member creates the full request. Where `canStandIn` is false, `new Request(request)` and
 * `fetch(request)` require a full request: pass `request.clone()`.
 * @param base scheme and host as the origin of a URL, e.g. `http://localhost`.
 */
export const lazyRequest = (message: IncomingMessage, response: ServerResponse, base: string): Request =>
  new LazyRequest(message, response, base) as unknown as Request

/**
 * Takes the body of a lazy request, once: its bytes if all are there. Null if the request announces no body. Undefined
 * for all other requests, and for a body already taken.
 */
export function takeBody(request: Request): IncomingBody | Uint8Array<ArrayBuffer> | null | undefined {
  const lazy: unknown = request
  return lazy instanceof LazyRequest ? lazy.takeBody() : undefined
}

/** The target of a request: path and query. */
export type Target = Pick<URL, 'pathname' | 'search'>

export function targetOf(request: Request): Target {
  const lazy: unknown = request
  return lazy instanceof LazyRequest ? lazy.target() : new URL(request.url)
}

/** A path that URL parsing leaves unchanged; testing it is faster than parsing. */
const PLAIN_PATH = /^\/[\w/-]*$/

class LazyRequest {
  readonly #message: IncomingMessage
  readonly #response: ServerResponse
  readonly #base: string
  readonly #body: IncomingBody | Uint8Array<ArrayBuffer> | undefined
  #url: URL | undefined
  #headers: Headers | undefined
  #signal: AbortSignal | undefined
  #real: Request | undefined
  #taken = false

  constructor(message: IncomingMessage, response: ServerResponse, base: string) {
    this.#message = message
    this.#response = response
    this.#base = base
    this.#body = incomingBody(message, response)
  }

  get method(): string {
    return this.#message.method ?? 'GET'
  }

  get url(): string {
    const { url = '/' } = this.#message
    return this.#url === undefined && PLAIN_PATH.test(url) ? this.#base + url : this.parsedUrl().href
  }

  parsedUrl(): URL {
    return (this.#url ??= new URL(this.#base + (this.#message.url ?? '/')))
  }

  target(): Target {
    const { url = '/' } = this.#message
    return this.#url === undefined && PLAIN_PATH.test(url) ? { pathname: url, search: '' } : this.parsedUrl()
  }

  get headers(): Headers {
    return (this.#headers ??= new LazyHeaders(this.#message.rawHeaders) as unknown as Headers)
  }

  /** Aborted when the connection closes, or the answer is sent. */
  get signal(): AbortSignal {
    return (this.#signal ??= goneSignal(this.#message, this.#response))
  }

  get bodyUsed(): boolean {
    return this.#taken || this.#real?.bodyUsed === true
  }

  /** Creates the full request, or returns the one created before. */
  real(): Request {
    return (this.#real ??= this.#taken ? usedRequest(this) : this.#whole())
  }

  text(): Promise<string> {
    return this.#read(textOf) ?? this.real().text()
  }

  json(): Promise<unknown> {
    return this.#read((bytes): unknown => JSON.parse(textOf(bytes))) ?? this.real().json()
  }

  arrayBuffer(): Promise<ArrayBuffer> {
    return this.#read(copyOf) ?? this.real().arrayBuffer()
  }

  /** Undefined if the full request must read the body. */
  #read<T>(convert: (bytes: Uint8Array) => T): Promise<T> | undefined {
    if (this.#taken || this.#real !== undefined) return undefined
    if (this.#body === undefined) return converted(NOTHING, convert)
    this.#taken = true
    return this.#body instanceof Uint8Array ? converted(this.#body, convert) : this.#body.all().then(convert)
  }

  #whole(): Request {
    return realRequest(this.#message, this.#response, this.url, this.signal, this.#body)
  }

  /** Undefined once the body may have been read by others. */
  takeBody(): IncomingBody | Uint8Array<ArrayBuffer> | null | undefined {
    if (this.#taken || this.#real !== undefined) return undefined
    this.#taken = true
    return this.#body ?? null
  }
}

class LazyHeaders {
  readonly #raw: readonly string[]
  #real: Headers | undefined

  constructor(raw: readonly string[]) {
    this.#raw = raw
  }

  get(name: string): string | null {
    if (this.#real !== undefined) return this.#real.get(name)
    const wanted = name.toLowerCase()
    let value: string | null = null
    for (let index = 0; index + 1 < this.#raw.length; index += 2) {
      const key = this.#raw[index] as string
      if (key.length !== wanted.length || key.toLowerCase() !== wanted) continue
      const text = this.#raw[index + 1] as string
      value = value === null ? text : `${value}, ${text}`
    }
    return value
  }

  has(name: string): boolean {
    return this.get(name) !== null
  }

  real(): Headers {
    return (this.#real ??= new Headers(pairsOf(this.#raw)))
  }
}

passOn(LazyRequest.prototype, Request.prototype, new Request('http://localhost'))
passOn(LazyHeaders.prototype, Headers.prototype, new Headers())

/** True if `new Request` and `fetch` take a lazy request. From Node.js 24 on, they read private fields of a full one. */
export const canStandIn = Object.getOwnPropertySymbols(new Request('http://localhost')).length > 0

const NOTHING = new Uint8Array()
const decoder = new TextDecoder()
const textOf = (bytes: Uint8Array) => decoder.decode(bytes)
const copyOf = (bytes: Uint8Array) => bytes.slice().buffer as ArrayBuffer

const converted = async <T>(bytes: Uint8Array, convert: (bytes: Uint8Array) => T): Promise<T> => convert(bytes)

/** A request whose body was read. */
function usedRequest({
  url,
  method,
  headers,
  signal,
}: Pick<Request, 'url' | 'method' | 'headers' | 'signal'>): Request {
  const bodiless = method === 'GET' || method === 'HEAD'
  const request = new Request(url, { method, headers, signal, ...(bodiless ? {} : { body: '' }) })
  void request.text()
  return keptWith(signal, request)
}
