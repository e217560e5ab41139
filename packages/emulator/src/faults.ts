import { type OperationId, operations } from '@muster/core/api'
import type { Random } from '@muster/core/clock'
import { z } from 'zod'
import type { DeploymentFault, WebhookFault } from './deployments/index.js'
import { checked } from './option-values.js'
import { PacketFault, type RelayFault } from './relays/index.js'

/**
 * A fault, as data: which requests it affects, how often, and how. Without `probability` and `nth`, it affects every
 * request of the operation. If several faults affect one request, their delays add up. Of other effects of the same
 * kind, only the one that was declared first applies.
 */
export interface Fault {
  /** Name of the affected operation, or '*' for all. Requests are counted in the order of arrival. */
  readonly operation: OperationId | '*'
  /** Probability that a request is affected, from 0 to 1. It is drawn for each request. */
  readonly probability?: number | undefined
  /** Numbers of the affected requests, counted from the fault's declaration: [1, 3] means the first and the third. */
  readonly nth?: readonly number[] | undefined
  /** Maximum number of affected requests. Default: no limit. */
  readonly count?: number | undefined

  /** The status of the response, 400 to 599, sent before the operation takes effect. */
  readonly status?: number | undefined
  /** With `status`: true lets the operation take effect despite the error. Default false. */
  readonly effect?: boolean | undefined
  /** With `status`: the message in the body. */
  readonly message?: string | undefined
  /** With `status`: milliseconds for the header Retry-After, which is sent in whole seconds. */
  readonly retryAfterMs?: number | undefined
  /** Milliseconds of the clock by which the request is delayed. */
  readonly delayMs?: number | undefined
  /** Ends the connection without a response, before or after the operation has taken effect. */
  readonly drop?: 'before' | 'after' | undefined
  /** Damage of the response body: broken JSON, empty, truncated, or replaced by an HTML page. */
  readonly body?: 'malformed' | 'empty' | 'truncated' | 'html' | undefined
  /** The fault of the deployment that this request creates. */
  readonly deployment?: DeploymentFault | undefined
  /** The fault of the webhooks of the deployment or relay session that this request creates. */
  readonly webhooks?: WebhookFault | undefined
  /** The fault of the relay session that this request creates. */
  readonly relay?: RelayFault | undefined
  /** The fault of the packets to the peers of the relay session that this request creates. */
  readonly packets?: PacketFault | undefined
}

const ids: readonly string[] = operations.map(([id]) => id)
const effects = [
  'status',
  'delayMs',
  'drop',
  'body',
  'deployment',
  'webhooks',
  'relay',
  'packets',
] as const satisfies readonly (keyof Fault)[]
const ofStatus = ['effect', 'message', 'retryAfterMs'] as const satisfies readonly (keyof Fault)[]

const milliseconds = z.number().min(0)

export const Fault: z.ZodType<Fault> = z
  .strictObject({
    operation: z.custom<OperationId | '*'>(
      (id) => id === '*' || (typeof id === 'string' && ids.includes(id)),
      "must be '*' or the id of an operation, such as 'deployments.create'",
    ),
    probability: z.number().min(0).max(1).optional(),
    nth: z.array(z.int().min(1)).min(1).optional(),
    count: z.int().min(1).optional(),
    status: z.int().min(400).max(599).optional(),
    effect: z.boolean().optional(),
    message: z.string().optional(),
    retryAfterMs: milliseconds.optional(),
    delayMs: milliseconds.optional(),
    drop: z.enum(['before', 'after']).optional(),
    body: z.enum(['malformed', 'empty', 'truncated', 'html']).optional(),
    deployment: z.enum(['stay deploying', 'error', 'no capacity']).optional(),
    webhooks: z
      .union([z.enum(['lost', 'early', 'repeated', 'forged']), z.strictObject({ lateMs: milliseconds })])
      .optional(),
    relay: z.enum(['never ready', 'no tokens', 'token of another']).optional(),
    packets: PacketFault.optional(),
  })
  .refine((fault) => fault.probability === undefined || fault.nth === undefined, {
    path: ['nth'],
    error: 'must not be given together with probability',
  })
  .refine((fault) => effects.some((key) => fault[key] !== undefined), {
    path: [],
    error: `must do something: ${effects.join(', ')}`,
  })
  .refine((fault) => fault.status !== undefined || ofStatus.every((key) => fault[key] === undefined), {
    path: ['status'],
    error: `is required with ${ofStatus.join(', ')}`,
  })

/** The declared faults. They can be added and withdrawn at any time. */
export interface Faults {
  /** Declares a fault, and returns a function that withdraws it. @throws TypeError naming the invalid field */
  add(fault: Fault): () => void
  clear(): void
  list(): readonly Fault[]
  /** Returns the declared faults, with the number of requests that each has seen and affected. */
  counts(): readonly FaultCount[]
}

export interface FaultCount {
  readonly fault: Fault
  /** Number of the operation's requests since the fault was declared. */
  readonly seen: number
  /** Number of requests that the fault has affected. */
  readonly struck: number
}

export interface FaultSource extends Faults {
  /** Returns the faults that affect this request; undefined if there are none. Call it once for each request. */
  strike(operation: OperationId): Strike | undefined
}

/** The combined faults of one request. */
export type Strike = Pick<
  Fault,
  'status' | 'effect' | 'message' | 'retryAfterMs' | 'drop' | 'body' | 'deployment' | 'webhooks' | 'relay' | 'packets'
> & { readonly delayMs: number }

/** A declared fault, with its running counts. */
type Declared = { -readonly [Key in keyof FaultCount]: FaultCount[Key] }

export function createFaults(initial: readonly Fault[], random: Random): FaultSource {
  const declared = new Set<Declared>()

  const add = (fault: Fault) => {
    const entry: Declared = { fault: checked('fault', Fault, fault), seen: 0, struck: 0 }
    declared.add(entry)
    return () => {
      declared.delete(entry)
    }
  }
  initial.forEach(add)

  return {
    add,
    clear: () => declared.clear(),
    list: () => Array.from(declared, ({ fault }) => fault),
    counts: () => Array.from(declared, ({ fault, seen, struck }) => ({ fault, seen, struck })),
    strike: (operation) => {
      const struck: Fault[] = []
      for (const entry of declared) if (strikes(entry, operation, random)) struck.push(entry.fault)
      return struck.length === 0 ? undefined : combined(struck)
    },
  }
}

function strikes(entry: Declared, operation: OperationId, random: Random): boolean {
  const { fault } = entry
  if (fault.operation !== '*' && fault.operation !== operation) return false
  entry.seen++
  // The probability is drawn even after the fault's count is used up, so that the count does not change the draws for
  // other faults.
  const chosen =
    fault.probability === undefined ? (fault.nth?.includes(entry.seen) ?? true) : random() < fault.probability
  if (!chosen || entry.struck === fault.count) return false
  entry.struck++
  return true
}

function combined(faults: readonly Fault[]): Strike {
  const failing = faults.find(({ status }) => status !== undefined)
  return {
    status: failing?.status,
    effect: failing?.effect,
    message: failing?.message,
    retryAfterMs: failing?.retryAfterMs,
    delayMs: faults.reduce((sum, { delayMs = 0 }) => sum + delayMs, 0),
    drop: first(faults, 'drop'),
    body: first(faults, 'body'),
    deployment: first(faults, 'deployment'),
    webhooks: first(faults, 'webhooks'),
    relay: first(faults, 'relay'),
    packets: first(faults, 'packets'),
  }
}

const first = <Key extends keyof Fault>(faults: readonly Fault[], key: Key): Fault[Key] | undefined =>
  faults.find((fault) => fault[key] !== undefined)?.[key]
