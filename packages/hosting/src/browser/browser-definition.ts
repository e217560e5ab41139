// pure: the schema of the server browser
import { z } from 'zod'

/** Configuration of the server browser: attributes, and how long seats stay reserved. Plain data, e.g. from JSON. */
export interface BrowserDefinition {
  /**
   * Attributes of listed servers by which players may filter and sort, by name. Each has a `type` (`string`, `number`
   * or `boolean`). A string may also have the allowed `values`. Default: none.
   */
  readonly attributes?: Readonly<Record<string, BrowserAttribute>> | undefined
  /** Seconds that a seat stays reserved after its client last read it, 10 to 300. Default 30. */
  readonly holdSeconds?: number | undefined
  /** Maximum seconds that a seat stays reserved in total, from `holdSeconds` to 300. Default 300. */
  readonly maxHoldSeconds?: number | undefined
}

/** The type and the allowed values of an attribute. */
export interface BrowserAttribute {
  /** The type of the attribute's values. */
  readonly type: 'string' | 'number' | 'boolean'
  /** The allowed values, only for type `string`. Default: any. */
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

/** The zod schema of `BrowserDefinition`. It also accepts its own output. */
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

/** Returns the first invalid attribute that a server reports, and why. Undefined if all are valid. */
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
