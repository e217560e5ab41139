/** An answer before it is sent as a `Response` or to a socket. */
export interface Reply {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  /** Set if the connection ends when half of the body is sent. */
  readonly truncated?: true
}

export const json = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Reply => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
})

export const message = (status: number, text: string, headers?: Readonly<Record<string, string>>): Reply =>
  json(status, { message: text }, headers)

export const empty = (status: number): Reply => ({ status, headers: {}, body: undefined })

/** Thrown when a declared fault ends the connection without an answer. */
export class ConnectionDropped extends Error {
  override readonly name = 'ConnectionDropped'
  constructor() {
    super('a declared fault has ended the connection')
  }
}

/** Converts the answer to a `Response` of fetch. */
export function toResponse({ status, headers, body, truncated }: Reply): Response {
  if (truncated && body !== undefined) return new Response(half(body), { status, headers })
  return new Response(body ?? null, { status, headers })
}

function half(body: string): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(body)
  let sent = false
  return new ReadableStream({
    pull: (controller) => {
      if (sent) return controller.error(new ConnectionDropped())
      sent = true
      controller.enqueue(bytes.subarray(0, bytes.length >> 1))
    },
  })
}
