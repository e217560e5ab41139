import type { ReturnReason } from '@muster/servers'

/**
 * Milliseconds before a ticket whose deployment failed is grouped again: a deployment that has just failed often fails
 * again.
 */
export const restAfter = (attempts: number) => Math.min(1000 * 2 ** attempts, 15_000)
/** Reasons that are no fault of a deployment: the ticket may be grouped again at once. */
export const atOnce: ReadonlySet<ReturnReason> = new Set(['dissolved', 'not-accepted', 'stopped'])
