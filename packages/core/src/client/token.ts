import { InvalidInput, Unauthorized, type CallFacts } from './errors.js'

/**
 * The account's secret, or a function that returns it. The function is called before every attempt, so that the token
 * can rotate; it should cache the token.
 */
export type Token = string | (() => string | Promise<string>)

/** Returns the present token for a call, whose facts an error includes. */
export type TokenSource = (call: TokenUser) => string | Promise<string>

/** A call that needs a token. */
export interface TokenUser {
  facts(): CallFacts
}

/** Whether a token can be sent in a header. Its form is not checked further, because it is not documented. */
const sendable = (token: unknown): token is string => typeof token === 'string' && /^[\x21-\x7e]+$/.test(token)

/**
 * Creates the source of the present token, without the word that the header needs in front.
 * @throws {InvalidInput} at once, for a token that is missing, empty or not sendable. Its value is in no message.
 */
export function createTokenSource(token: Token): TokenSource {
  if (typeof token === 'function') return (call) => askFor(token, call)
  if (!sendable(token)) {
    const what =
      token === undefined || token === null
        ? 'missing'
        : token === ''
          ? 'empty'
          : 'not a text that can stand in a header'
    throw new InvalidInput(
      `option token is ${what}: give the account's API token, or an async function that returns it`,
      {
        field: 'token',
      },
    )
  }
  return () => token
}

async function askFor(provide: () => string | Promise<string>, call: TokenUser): Promise<string> {
  let token: unknown
  try {
    token = await provide()
  } catch (cause) {
    throw new Unauthorized(`${call.facts().operation}: the token function failed`, { ...call.facts(), cause })
  }
  if (!sendable(token))
    throw new Unauthorized(`${call.facts().operation}: the token function returned no usable token`, call.facts())
  return token
}
