import type { Queue } from '@muster/matchmaker'
import type { Checking } from './checking.js'
import type { CheckedTickets } from './check-tickets.js'
import { durationWords, LONGEST_MS, momentOf, TOO_LONG, type Moment } from './durations.js'
import type { Happening } from './scene.js'
import { happeningSchema } from './scene-schema.js'

type Path = readonly string[]

/** What a scene's moments may name. */
export interface MomentGround {
  readonly checking: Checking
  readonly queues: readonly Queue[]
  readonly known: CheckedTickets
}

/** Reads a moment that stands as a name; undefined if it is none. */
export function checkMoment(text: string, path: Path, example: string, checking: Checking): Moment | undefined {
  const moment = momentOf(text)
  if (moment === undefined) checking.faultOfName(path, `is no moment: write e.g. ${example}`)
  else if (moment.at > LONGEST_MS) checking.faultOfName(path, TOO_LONG)
  return moment
}

/** Ids of the tickets for which a name stands, that have come by then. */
export function checkName(
  name: string,
  moment: Moment,
  path: Path,
  { checking, known }: MomentGround,
): readonly string[] {
  const ids = known.ids.get(name)
  if (ids === undefined) {
    checking.unknown(path, name, 'ticket of this scene', known.ids.keys())
    return []
  }
  if (!checking.mayName(ids.length)) return []
  const late = known.last.get(name)
  if (late !== undefined && late.at > moment.at)
    checking.fault(path, `names ticket ${late.id}, which comes only at ${durationWords(late.at)}`)
  return ids
}

/** Reads what happens in a scene. */
export function checkHappenings(
  given: Readonly<Record<string, unknown>>,
  path: Path,
  ground: MomentGround,
): readonly Happening[] {
  const { checking, queues } = ground
  const queueNames = queues.map(({ name }) => name)
  const all = Object.entries(given).flatMap(([text, value]): Happening[] => {
    const here = [...path, text]
    const moment = checkMoment(text, here, 'after 5s', checking)
    if (moment?.when === 'by') checking.faultOfName(here, 'happens at no certain time: write after')
    const form = checking.read(happeningSchema, value, here)
    if (moment === undefined || form === undefined) return []
    const happenings = Object.entries(form) as [Happening['what'], readonly string[]][]
    if (happenings.length === 0) checking.fault(here, 'is empty: write what happens, e.g. cancel: a')
    return happenings.map(([what, names]) => {
      const place = [...here, what]
      if (what !== 'pause' && what !== 'resume')
        return {
          at: moment.at,
          path: place,
          what,
          names: names.flatMap((name) => checkName(name, moment, place, ground)),
        }
      for (const name of names)
        if (!queueNames.includes(name)) checking.unknown(place, name, 'queue of the file of queues', queueNames)
      return { at: moment.at, path: place, what, names }
    })
  })
  return all.toSorted((one, other) => one.at - other.at)
}
