import { z } from 'zod'
import { boundsOf, defaultValueLimits, type ValueLimits } from './limits.js'

/**
 * Schemas of limited values. Apart from the limits, because zod takes longer to load than all that reads the limits.
 */

/** A text with a limited number of characters. */
export const limitedText = (name: keyof ValueLimits): z.ZodString => {
  const { min, max } = defaultValueLimits[name]
  return z
    .string()
    .check(within(name, 'string', (text) => text.length))
    .meta({ minLength: min, maxLength: max })
}

/** A limited whole number. */
export const limitedInteger = (name: keyof ValueLimits): z.ZodInt => {
  const { min, max } = defaultValueLimits[name]
  const bounds = { ...(min > -Infinity && { minimum: min }), ...(max < Infinity && { maximum: max }) }
  return z
    .int()
    .check(within(name, 'int', (number) => number))
    .meta(bounds)
}

/** A text with a limited number of bytes. */
export const limitedBytes = (name: keyof ValueLimits): z.ZodString =>
  z.string().check(({ value, issues }) => {
    const { max } = boundsOf(name)
    if (utf8Length(value) > max)
      issues.push({ code: 'custom', input: value, message: `must be at most ${max} bytes of UTF-8` })
  })

const utf8Length = (text: string) => new TextEncoder().encode(text).length

function within<T>(name: keyof ValueLimits, origin: 'string' | 'int', sizeOf: (value: T) => number): z.core.CheckFn<T> {
  return ({ value, issues }) => {
    const { min, max } = boundsOf(name)
    const size = sizeOf(value)
    if (size < min) issues.push({ code: 'too_small', origin, minimum: min, inclusive: true, input: value })
    else if (size > max) issues.push({ code: 'too_big', origin, maximum: max, inclusive: true, input: value })
  }
}
