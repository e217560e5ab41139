// pure: what a change of a queue means, in sentences
import type { TrialSide } from '@muster/console/wire'
import { lasted } from '../stories/sentences.js'

/** Compares both sides, the most important thing first. */
export function trialSentences(asIs: TrialSide, changed: TrialSide): string[] {
  return [
    shares(asIs, changed),
    counted(asIs.matches, changed.matches),
    waits('Half of the matched tickets', asIs.waitP50, changed.waitP50),
    waits('95 % of the matched tickets', asIs.waitP95, changed.waitP95),
    kilometres(asIs.meanKm, changed.meanKm),
    ...asIs.spreads.map(({ attribute, mean }) => {
      const other = changed.spreads.find((spread) => spread.attribute === attribute)
      return other && differences(attribute, mean, other.mean)
    }),
  ].flatMap((sentence) => sentence ?? [])
}

const percent = (share: number) => `${(share * 100).toLocaleString('en', { maximumFractionDigits: 1 })} %`
const number = (value: number) => value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 1 : 0 })

function shares({ matchedShare: before }: TrialSide, { matchedShare: after }: TrialSide): string | undefined {
  if (before === null || after === null) return undefined
  if (percent(before) === percent(after)) return `${percent(after)} of the tickets are matched, as now.`
  return `${percent(after)} of the tickets are matched instead of ${percent(before)}.`
}

function counted(before: number, after: number): string {
  if (before === after) return `${number(after)} matches are made, as now.`
  return `${number(after)} matches are made instead of ${number(before)}.`
}

function waits(who: string, before: number | null, after: number | null): string | undefined {
  if (before === null || after === null) return undefined
  const short = (ms: number) => (ms < 10_000 ? `${number(ms / 1000)} s` : lasted(ms))
  if (short(before) === short(after)) return `${who} wait at most ${short(after)}, as now.`
  return `${who} wait at most ${short(after)} instead of ${short(before)}.`
}

function kilometres(before: number | null, after: number | null): string | undefined {
  if (before === null || after === null) return undefined
  if (number(before) === number(after)) return `Players of a match are ${number(after)} km apart on average, as now.`
  return `Players of a match are ${number(after)} km apart on average instead of ${number(before)} km.`
}

function differences(attribute: string, before: number, after: number): string {
  const text = `Within a match, ${attribute} differs by ${number(after)} on average`
  return number(before) === number(after) ? `${text}, as now.` : `${text} instead of ${number(before)}.`
}
