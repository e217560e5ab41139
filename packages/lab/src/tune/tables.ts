import { quantity } from '../compare/quantities.js'
import type { FrontPoint } from './front.js'
import { meanOf, type Measured } from './promises.js'
import type { Tested, Tuned } from './tuned.js'
import type { TunedCrowd } from './tune-crowd.js'
import { partWords, promiseWords, relaxingWords } from './words.js'

/** Points of the front that are shown. */
const MOST_POINTS = 12

/** All numbers of the result, in tables. @param file what the file of the queue is called. */
export function tunedTables(tuned: TunedCrowd, file: string): string {
  const { queue, leftAlone, quality, runs, tried } = tuned
  const parts = [
    `${queue.name} of ${file}: ${Math.round(runs)} runs, ${tried} schedules on all training seeds`,
    changed(tuned, file),
    tested(tuned, file),
    `match cost: ${quality.map(partWords).join(' + ')}`,
    `What can be had, on the training seeds:\n${frontTable(tuned.front)}`,
    leftAlone.length === 0 ? '' : `Left alone: ${leftAlone.map(({ name, why }) => `${name} (${why})`).join('; ')}.`,
  ]
  return parts.filter((part) => part !== '').join('\n\n')
}

function changed({ changes, possible, ownIsBest }: Tuned<Measured>, file: string): string {
  const words = changes.map(({ name, isWait, was, is }) => [
    name,
    relaxingWords(was, isWait),
    relaxingWords(is, isWait),
  ])
  const head = possible ? 'tuned' : 'nearest'
  return ownIsBest
    ? columns([['limit', `${file}, the best`], ...words.map((row) => row.slice(0, 2))])
    : columns([['limit', file, head], ...words])
}

function tested({ own, best, ownIsBest, trainingSeeds, unseenSeeds, possible }: Tuned<Measured>, file: string): string {
  const rows = (runs: keyof Tested<Measured>, name: string) => {
    const row = (of: Tested<Measured>, called: string) => [name, called, ...valuesOf(of[runs])]
    return [row(own, file), ...(ownIsBest ? [] : [row(best, possible ? 'tuned' : 'nearest')])]
  }
  return columns([
    ['seeds', 'schedule', 'match cost', '90 % within', 'in vain'],
    ...rows('training', `training (${rangeOf(trainingSeeds)})`),
    ...rows('unseen', `unseen (${rangeOf(unseenSeeds)})`),
  ])
}

const valuesOf = (runs: readonly Measured[]): string[] => [
  quantity(meanOf(runs, 'cost'), 'skill'),
  promiseWords('waitP90Ms', meanOf(runs, 'waitP90Ms')),
  promiseWords('gaveUp', meanOf(runs, 'gaveUp')),
]

const rangeOf = (seeds: readonly number[]) =>
  seeds.length < 3 ? seeds.join(', ') : `${Math.min(...seeds)} to ${Math.max(...seeds)}`

/** The front as a table; of many points, those that are marked and some between. */
function frontTable(front: readonly FrontPoint[]): string {
  const every = Math.max(1, Math.ceil(front.length / MOST_POINTS))
  const shown = front.filter(({ is }, index) => is !== undefined || index % every === 0)
  const rows = shown.map(({ is, keeps, ...point }) => {
    const mark = is === 'best' ? 'chosen' : is === 'own' ? 'as it is' : ''
    return [...valuesOf([point]), keeps ? 'keeps the promises' : '', mark]
  })
  return columns([['match cost', '90 % within', 'in vain', '', ''], ...rows])
}

/** A table whose columns stand below one another. */
function columns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)))
  const line = (row: readonly string[]) => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('   ')
  return rows.map((row) => line(row).trimEnd()).join('\n')
}
