// pure: how a request is refused
/** Thrown to refuse a request. */
export class Refusal extends Error {
  readonly status: number
  readonly body: { readonly message: string; readonly [key: string]: unknown }

  constructor(status: number, message: string, extra: Readonly<Record<string, unknown>>) {
    super(message)
    this.status = status
    this.body = { ...extra, message }
  }
}

/**
 * Refuses the request with an error that the operation declares. The fields of `extra` are added to the body, beside
 * the message.
 */
export function fail(status: number, message: string, extra: Readonly<Record<string, unknown>> = {}): never {
  throw new Refusal(status, message, extra)
}
