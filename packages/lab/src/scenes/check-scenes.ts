import type { Queue } from '@muster/matchmaker'
import { createChecking, type Checking, type FieldPath, type SceneFault } from './checking.js'
import { checkExpectations, checkHappenings } from './check-expectations.js'
import { checkForm, checkTickets, layered, type TicketGround } from './check-tickets.js'
import { durationWords, LONGEST_MS, type Scene } from './scene.js'
import { TICK_MS } from './play.js'
import { defaultsSchema, fileSchema, sceneSchema, TICKET_FIELDS, type DefaultsForm } from './scene-schema.js'

/**
 * Validates a parsed file of scenes against its queues.
 * @param file e.g. `{ queues, defaults, scenes }`. Its `queues` are ignored.
 * @returns the scenes without an error, and all faults. If a fault is an error, the file cannot be used.
 */
export function checkScenes(
  file: unknown,
  queues: readonly Queue[],
): { readonly scenes: readonly Scene[]; readonly faults: readonly SceneFault[] } {
  const checking = createChecking()
  const whole = checking.read(fileSchema, file, [])
  if (whole === undefined) return { scenes: [], faults: checking.faults }
  const defaults = checkDefaults(whole.defaults, [], NO_DEFAULTS, queues, checking)
  const scenes = whole.scenes.flatMap((scene, index) =>
    checkScene(scene, ['scenes', String(index)], { checking, queues, defaults }),
  )
  const names = whole.scenes.map((scene) => (scene as { readonly name?: unknown } | null)?.name)
  for (const [index, name] of names.entries())
    if (typeof name === 'string' && names.indexOf(name) < index)
      checking.fault(['scenes', String(index), 'name'], `is also the name of scenes.${names.indexOf(name)}`)
  checkSize(scenes, checking)
  return { scenes, faults: checking.faults }
}

/** Maximum work of a file (our choice), which takes about a minute. Each ticket in each round counts as one. */
const MOST_ROUNDS_OF_TICKETS = 5_000_000

/** Returns the number of rounds of a scene. There is one at each interval, and at every check and event. */
function roundsOf({ endsAt, tickets, happenings, expectations }: Scene): number {
  return endsAt / TICK_MS + new Set([...tickets, ...happenings].map(({ at }) => at)).size + expectations.length
}

function checkSize(scenes: readonly Scene[], checking: Checking): void {
  const ms = scenes.reduce((sum, { endsAt }) => sum + endsAt, 0)
  const work = scenes.reduce((sum, scene) => sum + roundsOf(scene) * scene.tickets.length, 0)
  if (ms > LONGEST_MS) checking.fault(['scenes'], `last ${durationWords(ms)} in all, but may last at most 24h`)
  else if (work > MOST_ROUNDS_OF_TICKETS)
    checking.fault(['scenes'], 'have too many tickets for too long: use a crowd and muster lab run instead')
}

function checkScene(given: unknown, path: FieldPath, { checking, queues, defaults: ofFile }: TicketGround): Scene[] {
  const before = checking.faults.length
  const scene = checking.read(sceneSchema, given, path)
  if (scene === undefined) return []
  const { name, queue, expect, happens = {} } = scene
  const further = queue === undefined ? ofFile : layered(ofFile, { queue, short: {} })
  const defaults = checkDefaults(scene.defaults, path, further, queues, checking)
  const known = checkTickets(scene.tickets, [...path, 'tickets'], { checking, queues, defaults })
  const named = new Set(known.tickets.flatMap((ticket) => ticket.queues))
  const own = queues.filter((one) => named.has(one.name))
  const ground = { checking, queues: own, known }
  const happenings = checkHappenings(happens, [...path, 'happens'], ground)
  const expectations = checkExpectations(expect, [...path, 'expect'], ground)
  if (checking.faults.slice(before).some(({ severity }) => severity === 'error')) return []
  const endsAt = expectations.reduce((last, { at }) => Math.max(last, at), 0)
  for (const { at, path: place } of [...known.tickets, ...happenings])
    if (at > endsAt) checking.warn(place, `is at ${durationWords(at)}, after the last expectation`)
  return [{ name, path, queues: own, tickets: known.tickets, happenings, expectations, endsAt }]
}

const NO_DEFAULTS: DefaultsForm = { short: {} }

function checkDefaults(
  given: unknown,
  path: FieldPath,
  further: DefaultsForm,
  queues: readonly Queue[],
  checking: Checking,
): DefaultsForm {
  const here = [...path, 'defaults']
  const form = given === undefined ? NO_DEFAULTS : checking.read(defaultsSchema, given, here)
  if (form === undefined) return further
  checkForm(form, here, TICKET_FIELDS, checking, queues)
  return layered(further, form)
}
