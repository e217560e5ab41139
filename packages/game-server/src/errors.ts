/** Why a player is not let in. */
export type JoinFault =
  /** It is no join token. */
  | 'malformed'
  /** Another key has signed it. */
  | 'forged'
  /** Its time is over: the client asks `GET /me` for a fresh one. */
  | 'expired'
  /** It is for another server. */
  | 'other-server'
  /** It is for another match, for one that is over, or for a seat that this server has not heard of. */
  | 'other-match'
  /** It let its player in before, and they have not left; or they have left for good. */
  | 'used'

const SENTENCES: Readonly<Record<JoinFault, string>> = {
  malformed: 'This is no join token.',
  forged: 'The join token was signed by another key.',
  expired: 'The join token has expired. A fresh one comes with GET /me.',
  'other-server': 'The join token is for another server.',
  'other-match': 'The join token is for a match or a seat that this server does not have.',
  used: 'The join token was used before. A fresh one comes with GET /me.',
}

/** A player who is not let in. The message holds nothing of the token. */
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

/** A call with a value that Muster would refuse: nothing has changed. */
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
