import { isDeepStrictEqual } from 'node:util'
import { InvalidInput } from '@muster/core'
import { ENROLLED } from '@muster/matchmaker/internal'
import { type Config, Secret, withoutService } from '../../config/index.js'
import type { Log } from '../../telemetry/log.js'
import { type Apis, createApis, type ApisInForce } from '../apis.js'
import type { ProgramParts } from '../parts.js'
import type { RefusedTicket } from '../stores/index.js'

/** A field whose value has changed. */
interface Change {
  /** Path of the field, e.g. `queues.duel.matchSize`. */
  readonly field: string
  /** The change in words, e.g. `2 → 4`; `changed` for a secret. */
  readonly text: string
  /** True if the change takes effect immediately, false if it needs a restart. */
  readonly isLive: boolean
}

/** Fields that are read only at the start: the listener, the store, and the options that depend on either. */
const AFTER_RESTART = [
  'name',
  'listen',
  'service.url',
  'service.share',
  'service.timeoutMs',
  'service.settings',
  'store',
  'locate',
  'console',
  'telemetry.log.format',
  'telemetry.metrics.enabled',
  'lobbies',
  'relay',
  'webhook',
  'launch',
  'sources',
  'results',
  'servers',
  'joinTokens',
  'browser',
  'matching',
  'limits.groups',
  'limits.groupIdleMs',
  'spending.maxServers',
  'spending.maxStarting',
  'spending.maxCreatesPerMinute',
  'spending.maxMatchesPerPlayer',
  'spending.maxServersPerPlayer',
]

/** Maximum number of characters of a shown value. */
const MOST_SHOWN = 80

/** Returns all fields that differ, in the order of the old configuration. */
export function changesOf(before: Config, after: Config): readonly Change[] {
  const changes: Change[] = []
  const compare = (field: string, from: unknown, to: unknown): void => {
    if (from instanceof Secret || to instanceof Secret) {
      if (!isSameSecret(from, to)) changes.push(changeOf(field, 'changed'))
    } else if (isHidden(field)) {
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
  // Adding or removing the section `service` needs a restart. Some of its fields take effect immediately.
  const isLive = field !== 'service' && !AFTER_RESTART.some((name) => field === name || field.startsWith(`${name}.`))
  return { field, text, isLive }
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/** Returns true for variables of servers and parts of a probe. They are hidden: they may hold secrets of the game. */
const isHidden = (field: string) =>
  /^(queues|pools)\..+\.deploy\.(environment|hiddenEnvironment|probe\.(url|payload))(\.|$)/.test(field)

/**
 * Returns the members of an object or a list. Entries of a list are named by their `name` if each has a unique one, so
 * that a new first queue is one change.
 */
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
  // A value is an object only if a part was added or removed as a whole. Its content is not shown, because it may hold
  // a secret.
  const json = isObject(value) ? (Array.isArray(value) ? 'a list' : 'given') : JSON.stringify(value)
  return json.length > MOST_SHOWN ? `${json.slice(0, MOST_SHOWN)}…` : json
}

/**
 * Returns the changes that no restart requires any more, because their values are again those of the start.
 * @param waiting the changes since the start that take effect after a restart.
 */
const undone = (changes: readonly Change[], waiting: readonly Change[]): ReadonlySet<Change> => {
  const isPart = (field: string, of: string) => field === of || field.startsWith(`${of}.`)
  const isWaiting = ({ field }: Change) =>
    waiting.some((other) => isPart(field, other.field) || isPart(other.field, field))
  return new Set(changes.filter((change) => !change.isLive && !isWaiting(change)))
}

/** The levels of the log. Each shows more than those before it. */
const LEVELS = ['silent', 'error', 'warn', 'info', 'debug'] as const

/** The result of a reload. */
export interface Reloaded {
  readonly changes: readonly Change[]
  /**
   * The tickets that no longer fit their changed queue. They were cancelled, unless they also wait in another queue.
   */
  readonly refused: readonly RefusedTicket[]
}

export interface ReloadingOptions {
  readonly inForce: ApisInForce
  readonly parts: ProgramParts
  readonly log: Log
  readonly onProblem: (during: string, error: unknown) => void
}

/**
 * Sections from which the APIs are built. The APIs are rebuilt only if one of these sections has changed, because
 * rebuilding resets the counts of open waits.
 */
const OF_APIS = ['auth', 'addresses', 'cors', 'profiles', 'limits', 'beacons', 'inspect', 'streamTokens']
/** Maximum number of tickets that are logged one by one (our choice). */
const MOST_NAMED = 20

/**
 * Creates the function that applies another configuration as far as possible without a restart. Reloads run one after
 * another. If the function rejects, its error names the fault and nothing has changed.
 */
export function createReloading(options: ReloadingOptions): (next: Config) => Promise<Reloaded> {
  const { inForce, parts, log, onProblem } = options
  const atStart = inForce.config
  let last: Promise<unknown> = Promise.resolve()

  const apply = async (next: Config): Promise<Reloaded> => {
    const changes = changesOf(inForce.config, next).filter(({ field }) => field !== '')
    const touches = (sections: readonly string[]) =>
      changes.some(({ field }) => sections.some((name) => field === name || field.startsWith(`${name}.`)))
    const before = inForce.apis
    if (parts.client === undefined) assertServed(next)
    assertSourced(next, Object.keys(parts.sources))
    // Steps that may fail run first, so that a reload applies as a whole or not at all.
    // Fetched signing keys are kept, because their address may not answer now.
    const signed = touches(['auth.jwt']) ? undefined : before.auth.signed
    const apis = touches(OF_APIS) ? createApis(next, parts.api, signed) : before
    const refused = touches(['queues', 'pools']) ? reconfigured(next, apis) : []
    const levelBefore = inForce.config.telemetry.log.level
    inForce.config = next
    inForce.apis = apis
    const back = undone(
      changes,
      changesOf(atStart, next).filter(({ isLive }) => !isLive),
    )
    // Of the earlier level and the new one, the lines about the reload have the one that shows more.
    const { level } = next.telemetry.log
    if (LEVELS.indexOf(level) > LEVELS.indexOf(levelBefore)) log.setLevel(level)
    tell(log, changes, back, refused)
    log.setLevel(level)
    if (apis !== before) before.close().catch((error: unknown) => onProblem('reload', error))
    // Loads the location database again, because its file may have been replaced under the same name.
    await parts.locate?.reload().catch((error: unknown) => onProblem('locate', error))
    return { changes, refused }
  }
  const reconfigured = (next: Config, apis: Apis) => {
    try {
      return parts.matching.reconfigure(next)
    } catch (error) {
      if (apis !== inForce.apis) void apis.close()
      throw error
    }
  }

  return (next) => {
    const reloaded = last.then(() => apply(next))
    last = reloaded.catch(() => {})
    return reloaded
  }
}

/**
 * Checks that a process that started without the deployment service does not need it. Such a process gets no service
 * until a restart, even if the file now has one.
 * @throws {InvalidInput}
 */
function assertServed(next: Config): void {
  const remarks = withoutService({ ...next, service: undefined }, next.queues)
  const path = remarks.map((one) => one.path.join('.')).find((one) => /^(queues|pools)\./.test(one))
  if (path === undefined) return
  throw new InvalidInput(`${path}: needs \`service\`, which this process started without. Restart it.`, {
    field: path,
  })
}

/**
 * Checks that the process has opened the source of each pool. It opens sources only at its start.
 * @throws {InvalidInput}
 */
function assertSourced({ pools }: Config, opened: readonly string[]): void {
  for (const [index, { source }] of pools.entries()) {
    if (source === undefined || source === ENROLLED || opened.includes(source)) continue
    const field = `pools.${index}.source`
    throw new InvalidInput(
      `${field}: needs the source ${JSON.stringify(source)}, which this process started without. Restart it.`,
      { field },
    )
  }
}

function tell(
  log: Log,
  changes: readonly Change[],
  back: ReadonlySet<Change>,
  refused: readonly RefusedTicket[],
): void {
  for (const change of changes) {
    const { field, text, isLive } = change
    if (isLive) log.info(`Config changed: ${field} ${text}`)
    else if (back.has(change)) log.info(`Config changed back to what this process runs: ${field} ${text}`)
    else log.warn(`Config changed, restart required: ${field} ${text}`)
  }
  if (changes.length === 0) log.info('Config reloaded; nothing has changed.')
  for (const { ticketId, queue, reason } of refused.slice(0, MOST_NAMED))
    log.warn('The changed queue rejects a queued ticket.', { ticketId, queue, reason })
  if (refused.length > 0) log.warn(`The changed queues reject ${refused.length} queued tickets.`)
}
