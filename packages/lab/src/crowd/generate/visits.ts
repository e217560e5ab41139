import type { CrowdVisit } from '../crowd.js'
import { logNormal, weibull } from './distributions.js'
import type { CompleteParameters } from './parameters.js'
import type { Purpose, Streams } from './streams.js'

/** Most visits of a party, however often it comes back (our choice). */
const MOST_VISITS = 200

/**
 * What a party does, visit by visit. A visit that could not begin within the crowd's time, even if the party never
 * waited, is left out.
 * @param leftMs milliseconds from the party's first visit until the crowd's end.
 */
export function visitsOf(
  { patience, visits, play }: CompleteParameters,
  streams: Streams,
  party: number,
  leftMs: number,
): CrowdVisit[] {
  const of = (purpose: Purpose) => streams(purpose, party)
  const [waiting, accepting, playing, leaving] = [of('patience'), of('accept'), of('play'), of('leave')]
  const [returning, pausing] = [of('return'), of('break')]
  const made: CrowdVisit[] = []
  let goneMs = 0
  for (;;) {
    const matchMs = logNormal(playing, play.medianMs, play.spread)
    const [leavesEarly, part] = [leaving() < play.leaveEarly, leaving()]
    const visit = {
      patienceMs: wholeMs(weibull(waiting, patience.medianMs, patience.shape)),
      accepts: accepting() >= visits.decline,
      playMs: wholeMs(leavesEarly ? part * matchMs : matchMs),
    }
    const [again, later] = [returning() < visits.again, returning() < visits.later]
    const breakMs = wholeMs(logNormal(pausing, again ? visits.breakMs : visits.laterMs, visits.spread))
    goneMs += visit.playMs + breakMs
    const isLast = !(again || later) || goneMs >= leftMs || made.length + 1 === MOST_VISITS
    made.push(isLast ? visit : { ...visit, breakMs })
    if (isLast) return made
  }
}

/** A year: longer times are none that anybody waits. */
const MOST_MS = 31_536_000_000

/** Milliseconds of a wait, a match or a break, as a crowd has them: from 1. */
export const wholeMs = (ms: number): number => Math.min(MOST_MS, Math.max(1, Math.round(ms)))
