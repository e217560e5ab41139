/** Why a player is not admitted. */
export type JoinFault =
  /** The string is not a join token. */
  | 'malformed'
  /** The token is signed with another key. */
  | 'forged'
  /** The token has expired. The client gets a new one with `GET /me`. */
  | 'expired'
  /** The token is for another server. */
  | 'other-server'
  /** The token is for another match, for a match that is over, or for a seat that this server does not know. */
  | 'other-match'
  /** The token was used before and its player has not left, or the player has left for good. */
  | 'used'

const SENTENCES: Readonly<Record<JoinFault, string>> = {
  malformed: 'Not a valid join token.',
  forged: 'The join token was signed by another key.',
  expired: 'The join token has expired. Get a new one with GET /me.',
  'other-server': 'The join token is for another server.',
  'other-match': 'The join token is for a match or a seat that this server does not have.',
  used: 'The join token was used before. Get a new one with GET /me.',
}

/** Thrown if a player is not admitted. The message contains no part of the token. */
export class JoinRefused extends Error {
  readonly code: JoinFault

  static {
    this.prototype.name = 'JoinRefused'
  }

  constructor(code: JoinFault) {
    super(SENTENCES[code])
    this.code = code
  }
}

/** Thrown for a value that Muster would reject. The call then has no effect. */
export class InvalidCall extends TypeError {
  /** The path of the value, for example `result.ranking`. */
  readonly field: string

  static {
    this.prototype.name = 'InvalidCall'
  }

  constructor(field: string, message: string) {
    super(`${field}: ${message}`)
    this.field = field
  }
}
