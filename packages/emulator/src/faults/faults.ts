import type { OperationId } from '@muster/core/api'
import type { Random } from '@muster/core/clock'
import { checked } from '../checked.js'
import { Fault } from './fault.js'

/** The declared faults; faults can be added and withdrawn at any time. */
export interface Faults {
  /** Declares a fault, and returns a function that withdraws it. @throws TypeError naming the field that is wrong */
  add(fault: Fault): () => void
  clear(): void
  list(): readonly Fault[]
  /** The declared faults with the number of requests that each has seen and affected. */
  counts(): readonly FaultCount[]
}

export interface FaultCount {
  readonly fault: Fault
  /** Requests of the fault's operation since its declaration. */
  readonly seen: number
  /** Requests that the fault has affected. */
  readonly struck: number
}

export interface FaultSource extends Faults {
  /** The faults that affect this request; undefined for none. Called once per request. */
  strike(operation: OperationId): Strike | undefined
}

/** The combined faults of one request. */
export type Strike = Pick<
  Fault,
  'status' | 'effect' | 'message' | 'retryAfterMs' | 'drop' | 'body' | 'deployment' | 'webhooks' | 'relay' | 'packets'
> & { readonly delayMs: number }

interface Declared {
  readonly fault: Fault
  /** Requests of the fault's operation since its declaration. */
  seen: number
  /** Requests that the fault has affected. */
  struck: number
}

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
  // The probability is drawn even when the count is used up, so that one fault's count does not change the others'
  // draws.
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
