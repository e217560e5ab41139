import { durationWords } from './durations.js'
import { whyApart } from './explain-apart.js'
import { judge } from './judge.js'
import { sightOf } from './matches-seen.js'
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
  const unmet: Unmet[] = []
  let open = scene.expectations.filter(({ when }) => when === 'by')
  let changes = -1
  /** Takes what is met by now off the list of what is awaited. */
  const settle = (view: View) => {
    if (open.length === 0 || view.changes === changes) return
    changes = view.changes
    const sight = sightOf(view, scene.tickets)
    open = open.filter((expected) => !(hasBegun(expected, scene, view) && judge(expected, sight) === undefined))
  }
  const mishaps = await play(scene, {
    endsAt: scene.endsAt,
    stops: [...new Set(scene.expectations.map(({ at }) => at))],
    ticked: settle,
    stopped: (view) => {
      settle(view)
      const sight = sightOf(view, scene.tickets)
      for (const expected of scene.expectations) {
        if (expected.at !== view.at || (expected.when === 'by' && !open.includes(expected))) continue
        const shortfall = judge(expected, sight)
        if (shortfall === undefined) continue
        const summary = shortfall.waits === undefined ? undefined : view.explain(shortfall.waits).summary
        unmet.push({ ...shortfall, expected, summary })
      }
    },
  })
  const failures = mishaps.map(mishapFailure)
  for (const one of unmet.slice(0, MOST_EXPLAINED)) failures.push(await failureOf(one, scene))
  for (const one of unmet.slice(MOST_EXPLAINED)) failures.push(failureIn(one, one.words))
  return { name: scene.name, path: scene.path, failures }
}

/** Most failures of a scene whose tickets are tried by themselves. */
const MOST_EXPLAINED = 20

/** Whether all its tickets have come, which is so at its own time. */
const hasBegun = (expected: Expectation, { tickets }: Scene, { at }: View) => {
  const named = 'tickets' in expected ? expected.tickets : []
  return tickets.every((ticket) => ticket.at <= at || !named.includes(ticket.id))
}

const mishapFailure = ({ happening, words }: Mishap): SceneFailure => ({
  path: happening.path,
  expected: `after ${durationWords(happening.at)}: ${happening.what}: ${happening.names.join(', ')}`,
  instead: `it could not be: ${words}`,
})

const failureIn = ({ expected }: Unmet, instead: string): SceneFailure => ({
  path: expected.path,
  expected: expected.text,
  instead,
})

async function failureOf(unmet: Unmet, scene: Scene): Promise<SceneFailure> {
  const { expected, words, apart, summary } = unmet
  const why = apart === undefined ? undefined : await whyApart(scene, apart, expected.at)
  return failureIn(unmet, [words, why ?? summary].filter((part) => part !== undefined).join('. '))
}
