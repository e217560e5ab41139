// pure: what happens to tickets and matches of a queue over time, in words
import type { Queue } from '../queue.js'
import { mayBeSmaller } from './team-words.js'
import { counted, digits, duration, listed } from './words.js'

/** How long tickets and matches wait, and what ends them. */
export const lifetimeClauses = (queue: Queue): string[] => [
  ...targetClauses(queue),
  ...fillClauses(queue),
  ...lastResortClauses(queue),
  ...(queue.mode === 'arrival' ? ['matches are made whenever a ticket arrives'] : []),
  `a ticket that finds no match within ${duration(queue.expireAfterMs)} is cancelled`,
  ...presenceClauses(queue),
  ...playerClauses(queue),
  ...acceptanceClauses(queue),
  ...cooldownClauses(queue),
  ...(queue.replaceLeavers ? ['players who leave while the server starts are replaced'] : []),
  queue.backfill === 'first'
    ? 'free places in running matches are filled before new matches are made'
    : 'new matches are made before free places in running matches are filled',
]

const targetClauses = ({ targetWaitMs }: Queue) =>
  targetWaitMs === undefined
    ? []
    : [
        'limits follow how many suitable players come, region by region, so that nine of ten tickets find a match ' +
          `within ${duration(targetWaitMs)}: they begin between their strictest and their loosest, and give way ` +
          'while a ticket waits',
      ]

const fillClauses = ({ teams, fillForMs }: Queue) =>
  teams.some(mayBeSmaller) && fillForMs > 0
    ? [`smaller teams are enough once the oldest ticket has waited ${duration(fillForMs)} for full ones`]
    : []

function lastResortClauses({ lastResortMs, rules }: Queue): string[] {
  if (lastResortMs === undefined) return []
  const hard = rules.filter((rule) => rule.hard).map(({ name }) => name)
  const [first] = hard
  const still =
    hard.length === 1
      ? `only ${first} still counts, at its loosest`
      : `only ${listed(hard)} still count, at their loosest`
  const counting = first === undefined ? 'no rule counts any more' : still
  return [`after ${duration(lastResortMs)} a ticket takes the best match there is: ${counting}`]
}

const presenceClauses = ({ presence }: Queue) =>
  presence === undefined
    ? []
    : [`a ticket is cancelled when a player's client is away for ${duration(presence.withinMs)}`]

const statedWords = (name: string) => (name === 'avoid' ? 'avoid list' : name)

function playerClauses({ playersMayWaitTwice, playersMayWaitWhilePlaying, playerMayState }: Queue): string[] {
  const clauses: string[] = []
  if (playersMayWaitTwice) clauses.push('a player may wait in several tickets at once')
  if (playersMayWaitWhilePlaying) clauses.push('a player may wait while playing')
  if (playerMayState === undefined) return clauses
  const own =
    playerMayState.length === 0 ? 'nothing about themselves' : `their own ${listed(playerMayState.map(statedWords))}`
  return [...clauses, `players may state ${own}; all else comes from the token, the profile or a backend`]
}

function acceptanceClauses({ acceptance }: Queue): string[] {
  if (acceptance === undefined) return []
  const otherwise = acceptance.replace
    ? 'those who do not are replaced'
    : 'otherwise the match is dissolved, and those who did search again'
  return [`all players must accept a match within ${duration(acceptance.withinMs)}; ${otherwise}`]
}

const OFFENCES = {
  declined: 'decline a match',
  'not-accepted': 'do not accept it in time',
  left: 'leave a match before its server runs',
  'left-running': 'leave a running match with others in it',
}

function cooldownClauses({ cooldown }: Queue): string[] {
  if (cooldown === undefined || cooldown.for.length === 0) return []
  const { name, firstMs, factor, maxMs, forgiveAfterMs } = cooldown
  const who = listed(
    cooldown.for.map((offence) => OFFENCES[offence]),
    'or',
  )
  const longer = factor === 2 ? 'twice' : `${digits(factor)} times`
  const again = factor === 1 ? '' : `, ${longer} as long each further time, ${duration(maxMs)} at most`
  const shared = name === undefined ? '' : `; this counts in all queues of the cooldown ${name}`
  return [
    `players who ${who} may not wait again for ${duration(firstMs)}${again}; one time is forgiven every ` +
      `${duration(forgiveAfterMs)} after that${shared}`,
  ]
}

/** What server a match gets. Variables are left out: they may hold secrets. */
export function serverClauses({ deploy, maxAttempts }: Queue): string[] {
  const { application, version, readyTimeoutMs, maxDurationMs, joinWithinMs, warmUpMs, probe } = deploy
  const places = deploy.requireCachedLocations ? ', where its image is cached if there is room' : ''
  const ready = `it must be ready within ${duration(readyTimeoutMs)}`
  const warm = warmUpMs > 0 ? `, has ${duration(warmUpMs)} to warm up` : ''
  return [
    `every match gets a server of ${application}, version ${version}${places}; ${ready}${warm}${probeWords(probe)}`,
    `a match lasts ${duration(maxDurationMs)} at most`,
    ...(joinWithinMs === undefined ? [] : [`a match to which nobody comes within ${duration(joinWithinMs)} ends`]),
    `a ticket is cancelled after ${counted(maxAttempts, 'failed server')}`,
  ]
}

function probeWords(probe: Queue['deploy']['probe']): string {
  if (probe === undefined) return ''
  const within = `within ${duration(probe.withinMs)}`
  return probe.kind === 'registration'
    ? `, and must register itself ${within}`
    : `, and must answer on its ${probe.kind.toUpperCase()} port ${probe.port} ${within}`
}
