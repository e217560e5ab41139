import { Problem } from '@muster/core/http'
import type { Act, ConsoleOptions, Operator } from './options.js'

/** What an operator may do. Each act is logged with who, once it was done. */
export interface Operating {
  cancelTicket(id: string, operator: Operator): Promise<void>
  stopMatch(id: string, operator: Operator): Promise<void>
  pauseQueue(name: string, operator: Operator): Promise<void>
  resumeQueue(name: string, operator: Operator): Promise<void>
  forgive(playerId: string, operator: Operator): Promise<void>
  letBotsIn(players: number, operator: Operator): Promise<void>
}

export function createOperating({
  matchmaker,
  acted,
  letBotsIn,
}: Pick<ConsoleOptions, 'matchmaker' | 'acted' | 'letBotsIn'>): Operating {
  const log = ({ who }: Operator, what: Act['what'], id: string) => acted({ who, what, id })

  return {
    cancelTicket: async (id, operator) => {
      await matchmaker.cancelTicket(id)
      log(operator, 'cancel-ticket', id)
    },
    stopMatch: async (id, operator) => {
      await matchmaker.stopMatch(id, { until: 'recorded' })
      log(operator, 'stop-match', id)
    },
    pauseQueue: async (name, operator) => {
      await matchmaker.pauseQueue(name)
      log(operator, 'pause-queue', name)
    },
    resumeQueue: async (name, operator) => {
      await matchmaker.resumeQueue(name)
      log(operator, 'resume-queue', name)
    },
    forgive: async (playerId, operator) => {
      await matchmaker.forgive(playerId)
      log(operator, 'forgive-cooldown', playerId)
    },
    letBotsIn: async (players, operator) => {
      if (letBotsIn === undefined) throw new Problem(404, 'no-bots', 'bots are let in by `muster dev` alone')
      await letBotsIn(players)
      log(operator, 'let-bots-in', String(players))
    },
  }
}
