// pure: what a process that does not lead sees
import type { AllocationView, Inspection, ServerSurvey, Surveyed } from '@muster/matchmaker'

const MOST_FORMING = 50

/** What is seen by asking the leader: no places of those who wait, and not how far rules have given way. */
export function surveyedBy({ queues, matches, held }: Inspection, now: number): Surveyed {
  const forming = matches.filter(({ phase }) => phase !== 'running' && phase !== 'stopping')
  return {
    queues: queues.map(({ name, paused, searching, players, longestWaitMs }) => {
      const tickets = Object.values(searching).reduce((sum, count) => sum + count, 0)
      const oldest = tickets === 0 ? undefined : now - longestWaitMs
      return { name, paused, tickets, players, oldest, relaxed: [] }
    }),
    areas: [],
    nowhere: 0,
    forming: forming.slice(0, MOST_FORMING).map(({ matchId, queue, phase, playerIds, at }) => ({
      matchId,
      queue,
      phase,
      players: playerIds.length,
      foundAt: at,
      area: undefined,
    })),
    formingCount: forming.length,
    servers: matches.map(serverOf),
    held,
  }
}

const serverOf = ({ phase, assignment, playerIds }: AllocationView): ServerSurvey => {
  const { city, latitude, longitude } = assignment?.location ?? {}
  const place = latitude === undefined || longitude === undefined ? undefined : { latitude, longitude }
  return { phase, city, place, servers: 1, players: playerIds.length }
}
