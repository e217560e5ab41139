import { Problem } from './problem.js'

/** The problems of bodies that are not read to their end. Their connections are closed, since they cannot be reused. */
const refusal = (status: number, code: string, message: string) =>
  new Problem(status, code, message, { headers: { connection: 'close' } })

export const bodyTooLarge = (maxBytes: number): Problem =>
  refusal(413, 'body-too-large', `the body is larger than ${maxBytes} bytes`)

export const bodyBroken = (): Problem => new Problem(400, 'body-broken', 'the body broke off')

export const bodyTooSlow = (timeoutMs: number): Problem =>
  refusal(408, 'body-too-slow', `the body did not come within ${timeoutMs} ms`)

export const bodySuperseded = (): Problem =>
  refusal(408, 'body-superseded', 'the body was not complete when too many others began')
