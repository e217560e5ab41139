import type { Explanation, RelaxationChange } from '@muster/matchmaker'
import { groupBy } from '@muster/core/internal'
import { judge, listed, type Shortfall, type Sight, sightOf } from './judge.js'
import { type Mishap, play, type SceneView } from './play.js'
import { durationWords, type Expectation, type Scene } from './scene.js'

/** Maximum number of pairs of tickets that are tried to explain the failures of a scene. */
const MOST_PAIRS = 50

/** Counts the pairs of tickets that have been tried. */
interface Tries {
  pairs: number
}

/**
 * Explains which rule keeps tickets out of one match. It runs pairs of them alone until the matchmaker explains why one
 * pair stays apart. Returns undefined if no pair stays apart, and for queues with `targetWaitMs`.
 */
async function whyApart(scene: Scene, ids: readonly string[], at: number, tries: Tries): Promise<string | undefined> {
  // With `targetWaitMs`, limits follow all tickets, so two alone would have other limits.
  if (scene.queues.some(({ targetWaitMs }) => targetWaitMs !== undefined)) return undefined
  for (const [index, one] of ids.entries()) {
    for (const other of ids.slice(index + 1)) {
      tries.pairs += 1
      if (tries.pairs > MOST_PAIRS) return undefined
      const words = await whyPairApart(scene, one, other, at)
      if (words !== undefined) return words
    }
  }
  return undefined
}

async function whyPairApart(scene: Scene, one: string, other: string, at: number): Promise<string | undefined> {
  const tickets = scene.tickets.filter(({ id }) => id === one || id === other)
  const pauses = scene.happenings.filter(({ what }) => what === 'pause' || what === 'resume')
  // The older ticket comes first. The limits of two tickets are mostly those of the younger one, so that one is
  // explained.
  const [older, younger] = tickets
  let words: string | undefined
  const explain = (view: SceneView) => {
    if (older === undefined || younger === undefined) return
    if (tickets.some(({ id }) => view.ticket(id)?.status !== 'SEARCHING')) return
    const why = view.explain(younger.id).queues.find(({ waiting, compatible }) => waiting === 1 && compatible === 0)
    if (why === undefined) return
    const rules = scene.queues.find(({ name }) => name === why.queue)?.rules ?? []
    const isTimed = older.at === younger.at || rules.find(({ name }) => name === why.nearest?.rule)?.by === 'each'
    words = `Between ${one} and ${other} ${ruleWords(isTimed ? why : { ...why, next: undefined }, at)}`
  }
  await play(
    { queues: scene.queues, tickets, happenings: pauses },
    { endsAt: at, stops: new Set([at]), stopped: explain },
  )
  return words
}

/** Returns a phrase like `rule "skill" allows 250, but it is 320; after 15s it allows 350`. */
function ruleWords({ nearest, rules, blocking, next }: Explanation, at: number): string {
  if (nearest === undefined) {
    const names = rules.filter(({ lets }) => lets === 0).map(({ rule }) => JSON.stringify(rule))
    const against = names.length > 0 ? names : [JSON.stringify(blocking)]
    return against.length === 1
      ? `rule ${against[0]} forbids a match`
      : `rules ${against.slice(0, -1).join(', ')} and ${against.at(-1)} forbid a match`
  }
  const inUnit = (value: number) => `${value}${nearest.unit === undefined ? '' : ` ${nearest.unit}`}`
  const change = next?.changes.find(({ rule }) => rule === nearest.rule)
  const later = change && next ? `; after ${durationWords(at + next.inMs)} ${changeWords(change, inUnit)}` : ''
  const allowed = `rule ${JSON.stringify(nearest.rule)} allows ${inUnit(nearest.limit)}`
  return `${allowed}, but it is ${inUnit(nearest.value)}${later}`
}

const changeWords = ({ to }: RelaxationChange, inUnit: (value: number) => string) =>
  to === undefined ? 'it no longer counts' : `it allows ${inUnit(to)}`

/** The result of a scene, which is a test: tickets that arrive, and expectations of their matches. */
export interface SceneResult {
  readonly name: string
  readonly path: readonly string[]
  /** The failures, in the order of the file. Empty if all expectations are met. */
  readonly failures: readonly SceneFailure[]
}

/** An expectation that was not met, or an event that was impossible. */
export interface SceneFailure {
  /** Path of the expectation or event in the file. */
  readonly path: readonly string[]
  /** The expectation or event as its author wrote it, e.g. `after 12s: matched: [[a, b]]`. */
  readonly expected: string
  /** What happened instead, and why, in English. */
  readonly instead: string
}

/** Runs scenes one after another. @param ended called after each scene. */
export async function runScenes(
  scenes: readonly Scene[],
  ended?: (result: SceneResult, index: number) => void,
): Promise<readonly SceneResult[]> {
  const results: SceneResult[] = []
  for (const [index, scene] of scenes.entries()) {
    const result = await runScene(scene)
    results.push(result)
    ended?.(result, index)
  }
  return results
}

/** An expectation that was not met in time, and the actual state. */
interface Unmet extends Shortfall {
  readonly expected: Expectation
  /** The matchmaker's explanation of why the ticket waits. */
  readonly summary: string | undefined
}

async function runScene(scene: Scene): Promise<SceneResult> {
  const tickets = new Map(scene.tickets.map((ticket) => [ticket.id, ticket]))
  const dueAt = groupBy(scene.expectations, ({ at }) => at)
  const unmet: Unmet[] = []
  const awaited = new Set(scene.expectations.filter(({ when }) => when === 'by'))
  let changes = -1
  /** Removes the awaited expectations that are met now. */
  const settle = (view: SceneView) => {
    if (awaited.size === 0 || view.changes === changes) return
    changes = view.changes
    const sight = sightOf(view, tickets)
    for (const expected of awaited)
      if (hasBegun(expected, sight) && judge(expected, sight) === undefined) awaited.delete(expected)
  }
  const mishaps = await play(scene, {
    endsAt: scene.endsAt,
    stops: new Set(dueAt.keys()),
    ticked: settle,
    stopped: (view) => {
      settle(view)
      const sight = sightOf(view, tickets)
      for (const expected of dueAt.get(view.at) ?? []) {
        if (expected.when === 'by' && !awaited.has(expected)) continue
        const shortfall = judge(expected, sight)
        if (shortfall === undefined) continue
        const summary = shortfall.waits === undefined ? undefined : view.explain(shortfall.waits).summary
        unmet.push({ ...shortfall, expected, summary })
      }
    },
  })
  const failures = mishaps.map(mishapFailure)
  const tries = { pairs: 0 }
  for (const one of unmet) failures.push(await failureOf(one, scene, tries))
  return { name: scene.name, path: scene.path, failures }
}

/** Returns true if all tickets of the expectation have arrived. At the expectation's own time, this is always true. */
const hasBegun = (expected: Expectation, { tickets, view }: Sight) =>
  !('tickets' in expected) || expected.tickets.every((id) => (tickets.get(id)?.at ?? 0) <= view.at)

const mishapFailure = ({ happening, words }: Mishap): SceneFailure => ({
  path: happening.path,
  expected: `after ${durationWords(happening.at)}: ${happening.what}: ${listed(happening.names)}`,
  instead: `it could not be done: ${words}`,
})

async function failureOf(
  { expected, words, apart, summary }: Unmet,
  scene: Scene,
  tries: Tries,
): Promise<SceneFailure> {
  const why = apart === undefined ? undefined : await whyApart(scene, apart, expected.at, tries)
  const instead = [words, why ?? summary].filter((part) => part !== undefined).join('. ')
  return { path: expected.path, expected: expected.text, instead }
}
