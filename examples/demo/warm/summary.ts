// pure: the summary of the same crowd with a server for each match and with a pool
import { PAPER, row, wrap, type Size } from '../layout.js'
import { isGood, type SideResult, type WarmResult } from './result.js'

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
const minutes = (hours: number) => `${Math.round(hours * 60)} min`

const ROWS: readonly (readonly [title: string, of: (side: SideResult) => string])[] = [
  ['time to play, p50', ({ toPlayMs }) => seconds(toPlayMs.p50)],
  ['time to play, p95', ({ toPlayMs }) => seconds(toPlayMs.p95)],
  ['found a warm server', ({ warm }) => (warm === undefined ? '–' : `${Math.round(warm * 100)} %`)],
  ['matches', ({ matches }) => String(matches)],
  ['servers created', ({ creates }) => String(creates)],
  ['servers ran', ({ serverHours }) => minutes(serverHours)],
  ['of this idle', ({ idleHours }) => minutes(idleHours)],
  ['cost', ({ cost }) => `${cost.toFixed(2)} USD`],
]
const COLUMN = 18
const FIRST = 22

export function summary(result: WarmResult, { columns }: Pick<Size, 'columns'> = PAPER): string {
  const { own, pool, pricePerHour, speed } = result
  const line = (title: string, cells: readonly string[]) =>
    `  ${title.padEnd(FIRST)}${cells.map((cell) => cell.padStart(COLUMN)).join('')}`
  const notes =
    `Players wait in real time. Servers live ${speed}× faster, and their minutes are those of their own time, from ` +
    `create to stop, at ${pricePerHour.toFixed(2)} USD an hour (our assumption).`
  const text = (words: string) => wrap(words, columns - 3).map((part) => `  ${part}`)
  return [
    '',
    line('', ['a server each', 'a warm pool']),
    ...ROWS.map(([title, of]) => line(title, [of(own), of(pool)])),
    '',
    ...text(notes),
    '',
    ...row('without match', `${own.expired} and ${pool.expired} of ${own.players} players`, columns),
    ...row('players lost', String(own.lost + pool.lost), columns),
    ...row('servers left', String(own.serversLeft + pool.serversLeft), columns),
    ...row('took', `${result.seconds} s`, columns),
    '',
    ...text(verdict(result)),
    '',
  ].join('\n')
}

function verdict(result: WarmResult): string {
  const { interruptedWith, own, pool } = result
  if (interruptedWith !== undefined) return `${interruptedWith} servers ran or started when you stopped the demo.`
  if (!isGood(result)) return 'This is not as it should be.'
  const dearer = Math.round((pool.cost / own.cost - 1) * 100)
  const price = dearer < 0 ? `${-dearer} % less` : `${dearer} % more`
  const [sooner, later] = [pool, own].map(({ toPlayMs }) => seconds(toPlayMs.p50))
  return `With warm servers half of the players play within ${sooner} instead of ${later}, which costs ${price}.`
}
