import { durationWords } from './durations.js'
import { whyApart, type Tries } from './explain-apart.js'
import { judge } from './judge.js'
import { listed, sightOf, type Sight } from './matches-seen.js'
import { play, type Mishap, type View } from './play.js'
import type { Expectation, Scene } from './scene.js'
import type { Shortfall } from './shortfall.js'

/** What became of a scene. */
export interface SceneResult {
  readonly name: string
  readonly path: readonly string[]
  /** Empty if all is as it should be. In the order of the file. */
  readonly failures: readonly SceneFailure[]
}

/** An expectation that was not met, or a happening that could not be. */
export interface SceneFailure {
  /** Where it stands in the file. */
  readonly path: readonly string[]
  /** As its author wrote it, e.g. `after 12s: matched: [[a, b]]`. */
  readonly expected: string
  /** What happened instead, and why, in English. */
  readonly instead: string
}

/** Runs scenes one after another. @param ended called after each. */
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

/** An expectation that was not met when its time came. */
interface Unmet extends Shortfall {
  readonly expected: Expectation
  /** The matchmaker's explanation of a ticket that waits. */
  readonly summary: string | undefined
}

async function runScene(scene: Scene): Promise<SceneResult> {
  const tickets = new Map(scene.tickets.map((ticket) => [ticket.id, ticket]))
  const dueAt = byTime(scene.expectations)
  const unmet: Unmet[] = []
  const awaited = new Set(scene.expectations.filter(({ when }) => when === 'by'))
  let changes = -1
  /** Takes what is met by now off the list of what is awaited. */
  const settle = (view: View) => {
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

function byTime(expectations: readonly Expectation[]): ReadonlyMap<number, readonly Expectation[]> {
  const dueAt = new Map<number, Expectation[]>()
  for (const expected of expectations) {
    const others = dueAt.get(expected.at)
    if (others === undefined) dueAt.set(expected.at, [expected])
    else others.push(expected)
  }
  return dueAt
}

/** Whether all its tickets have come, which is so at its own time. */
const hasBegun = (expected: Expectation, { tickets, view }: Sight) =>
  !('tickets' in expected) || expected.tickets.every((id) => (tickets.get(id)?.at ?? 0) <= view.at)

const mishapFailure = ({ happening, words }: Mishap): SceneFailure => ({
  path: happening.path,
  expected: `after ${durationWords(happening.at)}: ${happening.what}: ${listed(happening.names)}`,
  instead: `it could not be: ${words}`,
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
