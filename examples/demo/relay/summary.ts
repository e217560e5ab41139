import { isGood, type RelayResult } from './result.js'

const whole = (value: number) => value.toLocaleString('en-US')
const spread = ({ p50, p99 }: { readonly p50: number; readonly p99: number }) =>
  `p50 ${String(p50).padStart(4)} µs   p99 ${String(p99).padStart(5)} µs`

export function summary(result: RelayResult): string {
  const { moves, packets, latency, kicked } = result
  const refusals = `${kicked.refused} refused by the relay, ${kicked.notRefused} not`
  return [
    '',
    `  lobbies          ${result.lobbies}, with ${result.players} players`,
    `  joins            ${moves.joins}, ${moves.cameBack} of them by players who came back`,
    `  left             ${moves.left} by themselves, ${moves.kicked} kicked: ${refusals}`,
    `  new hosts        ${moves.newHosts}, each on a new session`,
    '',
    `  packets          ${whole(packets.relayed)} relayed: ${whole(packets.sent)} to the hosts, and back`,
    `  cut off          ${whole(packets.cutOff)}, under way when a session ended`,
    `  lost             ${packets.lost}`,
    '',
    `  through relay    ${spread(latency.relayed)}   from client to host`,
    `  without          ${spread(latency.direct)}   between two sockets, meanwhile`,
    `  added latency    ${spread(latency.added)}   the difference`,
    '                   measured in one process: service, relay and players',
    '',
    `  sessions         ${result.sessionsOpened} opened`,
    `  sessions left    ${result.sessionsLeft}`,
    `  took             ${result.seconds} s`,
    '',
    ...(result.stuck > 0 ? [`  ${result.stuck} times players could not go on in time`] : []),
    ...(result.unfinished > 0 ? [`  ${result.unfinished} lobbies did not come to their end`] : []),
    ...result.problems.map((problem) => `  ${problem}`),
    isGood(result) ? '  Every packet is accounted for, and no session is left open.' : '  This is not as it should be.',
    '',
  ].join('\n')
}
