import { z } from 'zod'
import { canonicalIp } from '../ip.js'

/** Schemas that several packages use for their options and inputs. */

/** A function. Its parameters and result cannot be validated. */
export const callable = <T>() => z.custom<T>((value) => typeof value === 'function', 'must be a function')

/** An object with these methods. */
export const having = <T extends object>(...methods: readonly (keyof T & string)[]) =>
  z.custom<T>(
    (value) =>
      typeof value === 'object' &&
      value !== null &&
      methods.every((name) => typeof Reflect.get(value, name) === 'function'),
    `must have ${methods.join(', ')}`,
  )

/** An IP address, converted to its canonical form. */
export const ipAddress = z.string().transform((text, context) => {
  const ip = canonicalIp(text)
  if (ip !== undefined) return ip
  context.addIssue({ code: 'custom', message: 'must be an IPv4 or IPv6 address' })
  return z.NEVER
})
