import { faultSection } from '../fault-report.js'
import { PAPER, row, wrap, type Size } from '../layout.js'
import { isGood, type RelayResult } from './result.js'

const whole = (value: number) => value.toLocaleString('en-US')
const spread = ({ p50, p99 }: { readonly p50: number; readonly p99: number }) =>
  `p50 ${String(p50).padStart(4)} µs   p99 ${String(p99).padStart(5)} µs`

export function summary(result: RelayResult, { columns }: Pick<Size, 'columns'> = PAPER): string {
  const { moves, packets, latency, kicked } = result
  const refusals = `${kicked.refused} refused by the relay, ${kicked.notRefused} not`
  const say = (name: string, text: string) => row(name, text, columns)
  return [
    '',
    ...say('lobbies', `${result.lobbies}, with ${result.players} players`),
    ...say('joins', `${moves.joins}, ${moves.cameBack} of them by players who came back`),
    ...say('left', `${moves.left} by themselves, ${moves.kicked} kicked: ${refusals}`),
    ...say('new hosts', `${moves.newHosts}, each on a new session`),
    '',
    ...say('packets', `${whole(packets.relayed)} relayed: ${whole(packets.sent)} to the hosts, and back`),
    ...say('cut off', `${whole(packets.cutOff)}, under way when a session ended`),
    ...say('lost', `${packets.lost}`),
    '',
    ...say('through relay', `${spread(latency.relayed)}   from client to host`),
    ...say('without', `${spread(latency.direct)}   between two sockets, meanwhile`),
    ...say('added latency', `${spread(latency.added)}   the difference`),
    ...say('', 'measured in one process: service, relay and players'),
    '',
    ...say('sessions', `${result.sessionsOpened} opened`),
    ...say('sessions left', `${result.sessionsLeft}`),
    ...say('took', `${result.seconds} s`),
    '',
    ...faultSection(result.faults, columns),
    ...(result.interruptedWith === undefined ? endLines(result) : interruptedLines(result)).flatMap((line) =>
      wrap(line, columns - 3).map((part) => `  ${part}`),
    ),
    '',
  ].join('\n')
}

const endLines = (result: RelayResult): readonly string[] => [
  ...(result.stuck > 0 ? [`players could not go on in time: ${result.stuck} ×`] : []),
  ...(result.unfinished > 0 ? [`${result.unfinished} lobbies did not come to their end`] : []),
  ...result.problems,
  isGood(result) ? goodLine(result) : 'This is not as it should be.',
]

const goodLine = ({ packets: { lost } }: RelayResult): string =>
  `${lost === 0 ? 'Every packet is accounted for' : `Packets lost by UDP: ${lost}`}, and no session is left open.`

function interruptedLines({ interruptedWith = 0, sessionsLeft }: RelayResult): readonly string[] {
  const sessions = interruptedWith === 1 ? 'session was' : 'sessions were'
  const then = `${interruptedWith} ${sessions} open when you stopped the demo.`
  return [
    sessionsLeft === 0
      ? `${then} All have been closed, and none is left.`
      : `${then} ${sessionsLeft} could not be closed.`,
  ]
}
