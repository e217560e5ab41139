import type { CrowdVisit } from '../crowd.js'
import type { Habit, Habits } from './habits.js'
import type { TicketStory } from './recorded-tickets.js'

/** Tickets of the same players for the same queues, one after the other. */
export interface Sequence {
  readonly stories: readonly [TicketStory, ...TicketStory[]]
  readonly visits: readonly CrowdVisit[]
}

interface Growing {
  readonly stories: [TicketStory, ...TicketStory[]]
  readonly visits: CrowdVisit[]
  last: Habit
}

/**
 * Joins the tickets of each party. A ticket for other queues begins a party of its own, and so does one that was
 * created before the last one had ended.
 * @param stories in the order of time. @returns in the order of their first tickets.
 */
export function sequencesOf(stories: readonly TicketStory[], habits: Habits): readonly Sequence[] {
  const all: Growing[] = []
  const open = new Map<string, Growing>()
  for (const [index, story] of stories.entries()) {
    const key = JSON.stringify(story.players.map(({ id }) => id).toSorted())
    const habit = habits.of(story, index)
    const before = open.get(key)
    const ending = before === undefined ? undefined : endingBefore(before, story)
    const visit = { patienceMs: habit.patienceMs, accepts: habit.accepts, playMs: habit.playMs }
    if (before === undefined || ending === undefined) {
      const begun: Growing = { stories: [story], visits: [visit], last: habit }
      all.push(begun)
      open.set(key, begun)
      continue
    }
    const ended = before.visits.pop() as CrowdVisit
    before.visits.push({ ...ended, ...ending }, visit)
    before.stories.push(story)
    before.last = habit
  }
  return all
}

/** How the last visit ended for this ticket to come when it did; undefined if it had not ended. */
function endingBefore(
  { stories, last }: Growing,
  next: TicketStory,
): Pick<CrowdVisit, 'playMs' | 'breakMs'> | undefined {
  const sameQueues = stories[0].queues.toSorted().join('\n') === next.queues.toSorted().join('\n')
  const gapMs = Math.round(next.seenAt - last.waitedUntil)
  if (!sameQueues || gapMs < 0) return undefined
  if (last.gaveUp) return { playMs: last.playMs, breakMs: gapMs }
  // A match that was not seen to end was over when the party queued again.
  const playMs = last.isPlayKnown ? last.playMs : Math.max(1, Math.min(last.playMs, gapMs))
  return gapMs < playMs ? undefined : { playMs, breakMs: gapMs - playMs }
}
