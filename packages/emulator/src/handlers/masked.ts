import { applyMask, parseMask } from '../mask.js'
import { fail, ok, type Failure, type Success } from './handler.js'

/** Applies the X-Fields header to the body of a list; every field of such a body may be missing. */
export function masked<Body extends object>(
  body: Body,
  fields: string | undefined,
): Success<Partial<Body>> | Failure<400> {
  if (fields === undefined) return ok(body)
  const mask = parseMask(fields)
  return 'problem' in mask ? fail(400, `X-Fields: ${mask.problem}`) : ok(applyMask(mask, body) as Partial<Body>)
}
