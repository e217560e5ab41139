// pure: the schema of the server browser
import { z } from 'zod'

/** How servers are listed and how long seats are held: plain data, e.g. from JSON. */
export interface BrowserDefinition {
  /**
   * Attributes of listed servers by which players may filter and sort: for each name its `type` (`string`, `number` or
   * `boolean`) and, for a string, optionally the allowed `values`. Default: none.
   */
  readonly attributes?: Readonly<Record<string, BrowserAttribute>> | undefined
  /** Seconds for which a seat is held unless its client follows it, 10 to 300. Default 30. */
  readonly holdSeconds?: number | undefined
  /** Maximum number of seconds for which a seat is held in total, from `holdSeconds` to 300. Default 300. */
  readonly maxHoldSeconds?: number | undefined
}

/** An attribute of listed servers. */
export interface BrowserAttribute {
  /** The type of the attribute's values. */
  readonly type: 'string' | 'number' | 'boolean'
  /** The allowed values of a string. Default: any. */
  readonly values?: readonly string[] | undefined
}

const LONGEST_HOLD = 300

const attribute = z
  .strictObject({
    type: z.enum(['string', 'number', 'boolean']),
    values: z.array(z.string().min(1).max(256)).min(1).max(256).optional(),
  })
  .refine(({ type, values }) => values === undefined || type === 'string', {
    path: ['values'],
    message: 'are only allowed for type string',
  })

/** The zod schema of `BrowserDefinition`. Its output is valid input for it. */
export const browserSchema = z
  .strictObject({
    attributes: z
      .record(z.string().regex(/^[\w-]{1,64}$/, 'must have names of 1 to 64 of A–Z, a–z, 0–9, _ and -'), attribute)
      .refine((given) => Object.keys(given).length <= 32, 'must have at most 32 attributes')
      .default({}),
    holdSeconds: z.number().min(10).max(LONGEST_HOLD).default(30),
    maxHoldSeconds: z.number().min(10).max(LONGEST_HOLD).default(LONGEST_HOLD),
  })
  .refine(({ holdSeconds, maxHoldSeconds }) => maxHoldSeconds >= holdSeconds, {
    path: ['maxHoldSeconds'],
    message: 'must not be less than holdSeconds',
  })

/** A validated `BrowserDefinition` with defaults filled in. */
export type Browser = Readonly<z.output<typeof browserSchema>>

export type AttributeValue = string | number | boolean

/** Returns why the attributes that a server reports are invalid. Undefined if they are valid. */
export function attributeFault(
  { attributes: declared }: Pick<Browser, 'attributes'>,
  given: Readonly<Record<string, AttributeValue>>,
): { readonly name: string; readonly message: string } | undefined {
  for (const [name, { type, values }] of Object.entries(declared)) {
    if (!Object.hasOwn(given, name)) continue
    const value = given[name] as AttributeValue
    if (typeof value !== type) return { name, message: `must be a ${type}, as the configuration says` }
    if (values !== undefined && !values.includes(value as string))
      return { name, message: `must be one of ${values.join(', ')}` }
  }
  return undefined
}
