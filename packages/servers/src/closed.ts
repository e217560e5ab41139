import { MusterError } from '@muster/core'

/** The matchmaker was closed. */
export class MatchmakerClosed extends MusterError {
  static {
    this.prototype.name = 'MatchmakerClosed'
  }
}
