import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { incomingBody, type IncomingBody } from './incoming-body.js'

/**
 * Creates a Request of a node:http message that is created in full only when needed. Creating a full Request takes as
 * long as the rest of a small response. Most handlers use only method, URL, headers and the whole body, which are
 * available directly. Any other member creates the full request. If `canStandIn` is false, `new Request(request)` and
 * `fetch(request)` require a full request: pass `request.clone()`.
 * @param base scheme and host as the origin of a URL, e.g. `http://localhost`.
 */
export const lazyRequest = (message: IncomingMessage, response: ServerResponse, base: string): Request =>
  new LazyRequest(message, response, base) as unknown as Request

/**
 * Takes the body of a lazy request, once. Returns its bytes if all have arrived; null if the request has no body.
 * Returns undefined for other requests, and for a body that was already taken.
 */
export function takeBody(request: Request): IncomingBody | Uint8Array<ArrayBuffer> | null | undefined {
  const lazy: unknown = request
  return lazy instanceof LazyRequest ? lazy.takeBody() : undefined
}

/** The target of a request: path and query. */
export type RequestTarget = Pick<URL, 'pathname' | 'search'>

export function targetOf(request: Request): RequestTarget {
  const lazy: unknown = request
  return lazy instanceof LazyRequest ? lazy.target() : new URL(request.url)
}

/** Matches a path that URL parsing leaves unchanged. Testing a path is faster than parsing it. */
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

  target(): RequestTarget {
    const { url = '/' } = this.#message
    return this.#url === undefined && PLAIN_PATH.test(url) ? { pathname: url, search: '' } : this.parsedUrl()
  }

  get headers(): Headers {
    return (this.#headers ??= new LazyHeaders(this.#message.rawHeaders) as unknown as Headers)
  }

  /** Aborted when the connection closes, or the response is sent. */
  get signal(): AbortSignal {
    return (this.#signal ??= goneSignal(this.#message, this.#response))
  }

  get bodyUsed(): boolean {
    return this.#taken || this.#real?.bodyUsed === true
  }

  /** Creates the full request, or returns the existing one. */
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

  /** Reads and converts the body. Returns undefined if the full request must read it. */
  #read<T>(convert: (bytes: Uint8Array) => T): Promise<T> | undefined {
    if (this.#taken || this.#real !== undefined) return undefined
    if (this.#body === undefined) return converted(NOTHING, convert)
    this.#taken = true
    return this.#body instanceof Uint8Array ? converted(this.#body, convert) : this.#body.all().then(convert)
  }

  #whole(): Request {
    return realRequest(this.#message, this.#response, this.url, this.signal, this.#body)
  }

  /** Takes the body. Returns undefined once something else may have read it. */
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

/**
 * True if `new Request` and `fetch` accept a lazy request. Since Node.js 24, they need the private fields of a full
 * request.
 */
export const canStandIn = Object.getOwnPropertySymbols(new Request('http://localhost')).length > 0

const NOTHING = new Uint8Array()
const decoder = new TextDecoder()
const textOf = (bytes: Uint8Array) => decoder.decode(bytes)
const copyOf = (bytes: Uint8Array) => bytes.slice().buffer as ArrayBuffer

const converted = async <T>(bytes: Uint8Array, convert: (bytes: Uint8Array) => T): Promise<T> => convert(bytes)

/** Creates a request whose body was already read. */
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

const pairsOf = (raw: readonly string[]): [string, string][] =>
  Array.from({ length: raw.length >> 1 }, (_, index) => [raw[2 * index] as string, raw[2 * index + 1] as string])

/** Requests by the signal they follow. */
const following = new WeakMap<AbortSignal, Request>()

/**
 * Keeps a Request in memory as long as the signal that it follows, and returns it. A Request follows the signal that it
 * was created with only until it is garbage-collected. Handlers and streams may keep only its `signal`.
 */
function keptWith(signal: AbortSignal, request: Request): Request {
  following.set(signal, request)
  return request
}

/** Creates a full request. @throws TypeError for methods such as TRACE, which a Request cannot have. */
export function realRequest(
  message: IncomingMessage,
  response: ServerResponse,
  url: string,
  signal: AbortSignal,
  body = incomingBody(message, response),
): Request {
  const init: RequestInit & { duplex?: 'half' } = {
    method: message.method ?? 'GET',
    headers: pairsOf(message.rawHeaders),
    signal,
  }
  if (body instanceof Uint8Array) init.body = body
  else if (body !== undefined) Object.assign(init, { body: body.stream(), duplex: 'half' })
  return keptWith(signal, new Request(url, init))
}

/** Shared by all signals, because creating an error with its stack takes longer than the abort itself. */
const GONE = new DOMException('This operation was aborted', 'AbortError')

/** Creates a signal that is aborted when the response is sent or the connection closes; see `onGone`. */
export function goneSignal(message: IncomingMessage, response: ServerResponse): AbortSignal {
  const gone = new AbortController()
  onGone(message, response, () => gone.abort(GONE))
  return gone.signal
}

/**
 * Calls `gone` when the response is sent or the connection closes, even while the response waits behind pipelined ones.
 * It may be called twice.
 */
export function onGone({ socket }: IncomingMessage, response: ServerResponse, gone: () => void): void {
  if (response.closed) gone()
  const forget = onSocketEnd(socket, gone)
  response.once('close', () => {
    forget()
    gone()
  })
}

/** One listener per socket, because one socket can carry any number of pipelined requests. */
const waiting = new WeakMap<Socket, Set<() => void>>()

/**
 * Calls `ended` when the socket closes, or immediately if it is closed already. node:http reports the close only to the
 * pipelined response whose turn it is. The other responses would wait forever.
 * @returns a function that stops listening.
 */
function onSocketEnd(socket: Socket, ended: () => void): () => void {
  if (socket.destroyed) {
    ended()
    return () => {}
  }
  const all = waiting.get(socket) ?? listen(socket)
  all.add(ended)
  return () => void all.delete(ended)
}

function listen(socket: Socket): Set<() => void> {
  const all = new Set<() => void>()
  waiting.set(socket, all)
  socket.once('close', () => {
    for (const ended of all) ended()
    all.clear()
  })
  return all
}

/** An object that creates the real object on first use. */
interface Lazy {
  /** Returns the real object, creating it if needed. */
  real(): object
}

/**
 * Makes `lazy` an instance of `whole`'s class. Members of `whole` that `lazy` lacks are forwarded to `lazy.real()`.
 * @param instance an instance of the class. Up to Node.js 22, `fetch` and `new Request(request)` read its symbols.
 */
function passOn(lazy: Lazy, whole: object, instance: object): void {
  for (const key of Object.getOwnPropertySymbols(instance)) {
    Object.defineProperty(lazy, key, { configurable: true, get: propertyOf(key) })
  }
  for (const key of Reflect.ownKeys(whole)) {
    if (Object.hasOwn(lazy, key) || key === Symbol.toStringTag) continue
    const isMethod = typeof Object.getOwnPropertyDescriptor(whole, key)?.value === 'function'
    Object.defineProperty(lazy, key, {
      configurable: true,
      ...(isMethod ? { value: methodOf(key) } : { get: propertyOf(key) }),
    })
  }
  Object.setPrototypeOf(lazy, whole)
}

function propertyOf(key: string | symbol) {
  return function get(this: Lazy): unknown {
    return Reflect.get(this.real(), key)
  }
}

function methodOf(key: string | symbol) {
  return function call(this: Lazy, ...given: unknown[]): unknown {
    const real = this.real()
    return (Reflect.get(real, key) as (...given: unknown[]) => unknown).apply(real, given)
  }
}
