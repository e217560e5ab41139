import { isDeepStrictEqual } from 'node:util'
import type { Config } from '../config/config.js'
import { Secret } from '../config/secret.js'

/** A field that differs. */
export interface Change {
  /** E.g. `queues.duel.matchSize`. */
  readonly field: string
  /** How, in words: `2 → 4`. Of a secret: `changed`. */
  readonly text: string
  /** Whether it counts at once, or after a restart only. */
  readonly isLive: boolean
}

/** Fields that are read at the start alone: the listener, the store, and the options of what stands on them. */
const AFTER_RESTART = [
  'name',
  'listen',
  'service.url',
  'service.share',
  'service.timeoutMs',
  'store',
  'locate',
  'console',
  'telemetry.log.format',
  'telemetry.metrics.enabled',
  'lobbies',
  'relay',
  'webhook',
  'matching',
  'limits.groups',
  'limits.groupIdleMs',
  'spending.maxServers',
  'spending.maxStarting',
  'spending.maxCreatesPerMinute',
  'spending.maxMatchesPerPlayer',
  'spending.maxServersPerPlayer',
]

/** Characters of a value that are shown, at most. */
const MOST_SHOWN = 80

/** All fields that differ, in the order of the first configuration. */
export function changesOf(before: Config, after: Config): readonly Change[] {
  const changes: Change[] = []
  const compare = (field: string, from: unknown, to: unknown): void => {
    if (from instanceof Secret || to instanceof Secret) {
      if (!isSameSecret(from, to)) changes.push(changeOf(field, 'changed'))
    } else if (isEnvironment(field)) {
      if (!isDeepStrictEqual(from, to)) changes.push(changeOf(field, 'changed'))
    } else if (isObject(from) && isObject(to)) {
      const [one, other] = [membersOf(from), membersOf(to)]
      for (const key of new Set([...Object.keys(one), ...Object.keys(other)]))
        compare(field === '' ? key : `${field}.${key}`, one[key], other[key])
    } else if (!isDeepStrictEqual(from, to)) changes.push(changeOf(field, `${wordOf(from)} → ${wordOf(to)}`))
  }
  compare('', before, after)
  return changes
}

function changeOf(field: string, text: string): Change {
  const isLive = !AFTER_RESTART.some((name) => field === name || field.startsWith(`${name}.`))
  return { field, text, isLive }
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/** Variables of servers may hold secrets of the studio. */
const isEnvironment = (field: string) => /^queues\..+\.deploy\.(environment|hiddenEnvironment)(\.|$)/.test(field)

/** Entries of a list that have names are compared by these, so that a new first queue is one change. */
function membersOf(value: object): Readonly<Record<string, unknown>> {
  if (!Array.isArray(value)) return value as Readonly<Record<string, unknown>>
  const names = value.map((entry: unknown) =>
    isObject(entry) ? (entry as { readonly name?: unknown }).name : undefined,
  )
  const areNames = names.every((name) => typeof name === 'string') && new Set(names).size === names.length
  return Object.fromEntries(value.map((entry: unknown, index) => [areNames ? names[index] : index, entry]))
}

const isSameSecret = (one: unknown, other: unknown) =>
  one instanceof Secret && other instanceof Secret ? one.reveal() === other.reveal() : one === other

function wordOf(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (typeof value === 'number' || value === null) return String(value)
  // Objects appear where a part came or went as a whole, and may hold a secret.
  const json = isObject(value) ? (Array.isArray(value) ? 'a list' : 'given') : JSON.stringify(value)
  return json.length > MOST_SHOWN ? `${json.slice(0, MOST_SHOWN)}…` : json
}
