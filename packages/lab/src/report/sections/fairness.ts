import type { LabResult } from '../../figures/lab-result.js'
import { groupsOf } from '../../compare/slices.js'
import type { Fairness } from '../../figures/figures.js'
import type { Html } from '../html.js'
import { overSeeds } from '../means.js'
import type { Canvas } from '../plots/canvas.js'
import { dotsByGroup } from '../plots/dots-by-group.js'
import type { Series } from '../series.js'

const DIMENSIONS = [
  ['region', 'region'],
  ['skillBand', 'skill'],
  ['partySize', 'party size'],
] as const satisfies readonly (readonly [keyof Fairness['by'], string])[]

/** Who pays: how much more often each group is among the worst served than among all. */
export function worstServed(canvas: Canvas, { variants }: LabResult, series: readonly Series[]): Html[] {
  return DIMENSIONS.flatMap(([dimension, what]) => {
    const names = groupsOf(variants, dimension)
    if (names.length < 2) return []
    return dotsByGroup(canvas, series, {
      title: `Who pays, by ${what}`,
      note: "A group's part of the worst served 5 %, as a multiple of its part of all players: 1 is fair.",
      label: 'times its part',
      rule: 1,
      groups: names,
      of: (group, { index }) =>
        overSeeds(
          (variants[index]?.runs ?? []).map(({ figures: { fairness } }) => {
            const all = fairness.by[dimension].groups
            const own = Object.hasOwn(all, group) ? all[group] : undefined
            return own === undefined || own.ofAll === 0 ? undefined : own.ofWorst / own.ofAll
          }),
        ),
    })
  })
}
