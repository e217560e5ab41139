import { InvalidInput } from '@muster/core'
import { didYouMean } from '@muster/core/validation'
import { InvalidArgumentError } from 'commander'
import type { Bounds, WaitName } from '@muster/lab'
import type { Queue } from '@muster/matchmaker'
import type { QueueFile } from './read-queues.js'

/** Options of `muster lab tune`, as they are given. */
export interface TuneCommandOptions {
  readonly queue: string
  readonly queues: string
  readonly waitP90?: number | undefined
  readonly giveUp?: number | undefined
  readonly also?: readonly WaitName[] | undefined
  readonly bounds?: Readonly<Record<string, Bounds>> | undefined
  readonly seeds: number
  readonly unseen: number
  readonly budget: number
  readonly threads?: number | undefined
  readonly tick?: number | undefined
  readonly skill?: string | undefined
  readonly json?: boolean | undefined
  readonly html?: string | undefined
  readonly patch?: string | undefined
  readonly write?: boolean | undefined
}

/** Reads a share, like `5%` or `0.05`. */
export function shareOption(text: string): number {
  const [, number = '', percent] = /^(\d+(?:\.\d+)?|\.\d+) ?(%)?$/.exec(text.trim()) ?? []
  const share = percent === undefined ? Number(number) : Number(number) / 100
  if (number !== '' && share <= 1) return share
  throw new InvalidArgumentError('It must be a share of the players, like 5% or 0.05.')
}

/** As `WAITS` of `@muster/lab`, which is loaded only when a command needs it. */
const WAITS: readonly WaitName[] = ['fillForMs', 'lastResortMs', 'optionalAfterMs']

/** Reads a list of waits, like `fillForMs,lastResortMs`. */
export function waitsOption(text: string): readonly WaitName[] {
  const names = text.split(',').map((name) => name.trim())
  return [...new Set(names)].map((given) => {
    const name = WAITS.find((one) => one === given)
    if (name !== undefined) return name
    const near = didYouMean(given, WAITS)
    throw new InvalidArgumentError(`${JSON.stringify(given)} is none of ${WAITS.join(', ')}${near}.`)
  })
}

const BOUNDS = /^(.+)=(-?\d+(?:\.\d+)?)\.\.(-?\d+(?:\.\d+)?)$/

/** Reads bounds of a limit, like `difference skill=50..400`. */
export function boundsOption(
  text: string,
  others: Readonly<Record<string, Bounds>> = {},
): Readonly<Record<string, Bounds>> {
  const [, name = '', from = '', to = ''] = BOUNDS.exec(text) ?? []
  if (name === '' || Number(from) === Number(to))
    throw new InvalidArgumentError('It must be a limit and two different numbers, like "difference skill=50..400".')
  return { ...others, [name.trim()]: { from: Number(from), to: Number(to) } }
}

/** The queue that is meant. @throws {InvalidInput} if the file has no such queue. */
export function queueOf({ file, queues }: QueueFile, name: string): Queue {
  const found = queues.find((queue) => queue.name === name)
  if (found !== undefined) return found
  const names = queues.map((queue) => queue.name)
  const has = `it has ${names.map((one) => JSON.stringify(one)).join(', ')}`
  throw new InvalidInput(`--queue: ${file} has no queue ${JSON.stringify(name)}${didYouMean(name, names)} (${has})`)
}

/** @throws {InvalidInput} if options contradict one another. */
export function checkOptions({ waitP90, giveUp, patch, html }: TuneCommandOptions): void {
  if (waitP90 === undefined && giveUp === undefined)
    throw new InvalidInput('--wait-p90 or --give-up must be given: what the queue has to keep, e.g. --wait-p90 30s')
  if (patch !== undefined && patch === html) throw new InvalidInput('--patch and --html are the same file')
}
