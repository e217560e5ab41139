// pure: the effects of declared faults, in words
import type { Fault, FaultCount } from '@muster/emulator'
import { row } from './layout.js'

/** A declared fault, and how often it occurred. */
export interface FaultReport {
  readonly operation: string
  readonly what: string
  readonly struck: number
  /** Number of requests that the fault could have affected. */
  readonly of: number
}

export const faultReports = (counts: readonly FaultCount[]): FaultReport[] =>
  counts.map(({ fault, seen, struck }) => ({
    operation: fault.operation === '*' ? 'any request' : fault.operation,
    what: whatOf(fault),
    struck,
    of: seen,
  }))

function whatOf({ status, effect, delayMs, drop, body, deployment, webhooks, relay }: Fault): string {
  const parts = [
    delayMs === undefined ? undefined : `${delayMs} ms late`,
    drop === undefined
      ? undefined
      : `the answer was lost ${drop === 'after' ? 'after it had taken effect' : 'before it took effect'}`,
    status === undefined ? undefined : `answered by ${status}${effect === true ? ' although it had taken effect' : ''}`,
    body === undefined ? undefined : `answered by ${body === 'html' ? 'a page of HTML' : `a body that was ${body}`}`,
    deployment === undefined ? undefined : deploymentWords[deployment],
    webhooks === undefined ? undefined : `the webhook was ${typeof webhooks === 'string' ? webhooks : 'late'}`,
    relay === undefined ? undefined : `the session had ${relay}`,
  ]
  return parts.filter((part) => part !== undefined).join(', ')
}

const deploymentWords = {
  'stay deploying': 'the server never got ready',
  error: 'the server ended in ERROR',
  'no capacity': 'there was no capacity',
}

/** Returns a heading, and a line for each fault; nothing if no fault was declared. */
export function faultSection(reports: readonly FaultReport[], columns: number): readonly string[] {
  if (reports.length === 0) return []
  const lines = reports.flatMap(({ operation, what, struck, of }) =>
    row(`  ${operation}`, `${String(struck).padStart(3, '\u00a0')}\u00a0of\u00a0${of}: ${what}`, columns, 24),
  )
  return ['  what went wrong, as declared', ...lines.map((line) => line.replaceAll('\u00a0', ' ')), '']
}
