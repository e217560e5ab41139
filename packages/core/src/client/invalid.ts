import type { Fault } from '../validation/validate.js'
import { InvalidInput, type CallFacts } from './errors.js'

/**
 * The error for a value that does not fit its schema. It names the field, what is wrong, and the value unless that may
 * be a secret or an address.
 * @param what the value as a whole, e.g. `deployments.create: input`.
 */
export function invalid(what: string, { field, message }: Fault, facts: CallFacts = {}): InvalidInput {
  return new InvalidInput(`${what}${field === undefined ? '' : ` ${field}`}: ${message}`, { ...facts, field })
}
