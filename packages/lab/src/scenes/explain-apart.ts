import type { Explanation, RelaxationChange } from '@muster/matchmaker'
import { durationWords } from './durations.js'
import { play, type View } from './play.js'
import type { Scene } from './scene.js'

/** Most pairs that are tried for the failures of a scene. */
const MOST_PAIRS = 50

/** How many pairs were tried so far. */
export interface Tries {
  pairs: number
}

/**
 * Says which rule keeps tickets from being in one match, as between the first two of them that it keeps apart: by the
 * matchmaker's own explanation, where these two are alone. Undefined if no two are kept apart, and in queues with
 * `targetWaitMs`.
 */
export async function whyApart(
  scene: Scene,
  ids: readonly string[],
  at: number,
  tries: Tries,
): Promise<string | undefined> {
  // There the limits follow who comes, and two alone would meet others.
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
  // In the order in which they come. The limits of two tickets are mostly those of the one that has waited less.
  const [older, younger] = tickets
  let words: string | undefined
  const explain = (view: View) => {
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

/** `rule "skill" allows 250, and it is 320; after 15s it allows 350` */
function ruleWords({ nearest, rules, blocking, next }: Explanation, at: number): string {
  if (nearest === undefined) {
    const names = rules.filter(({ lets }) => lets === 0).map(({ rule }) => JSON.stringify(rule))
    const against = names.length > 0 ? names : [JSON.stringify(blocking)]
    return against.length === 1
      ? `stands rule ${against[0]}`
      : `stand rules ${against.slice(0, -1).join(', ')} and ${against.at(-1)}`
  }
  const inUnit = (value: number) => `${value}${nearest.unit === undefined ? '' : ` ${nearest.unit}`}`
  const change = next?.changes.find(({ rule }) => rule === nearest.rule)
  const later = change && next ? `; after ${durationWords(at + next.inMs)} ${changeWords(change, inUnit)}` : ''
  const allowed = `rule ${JSON.stringify(nearest.rule)} allows ${inUnit(nearest.limit)}`
  return `${allowed}, and it is ${inUnit(nearest.value)}${later}`
}

const changeWords = ({ to }: RelaxationChange, inUnit: (value: number) => string) =>
  to === undefined ? 'it no longer counts' : `it allows ${inUnit(to)}`
