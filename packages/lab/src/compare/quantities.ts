// pure: quantities as people read them

/** What a number means. */
export type Unit = 'ms' | 'share' | 'km' | 'skill' | 'hours' | 'money' | 'count' | 'roundTripMs'

const grouped = (value: number, decimals: number): string => {
  const [whole = '', fraction] = Math.abs(value).toFixed(decimals).split('.')
  const digits = whole.replace(/\B(?=(\d{3})+$)/g, ',') + (fraction === undefined ? '' : `.${fraction}`)
  return value < 0 && /[1-9]/.test(digits) ? `−${digits}` : digits
}

/** Decimals that leave about three digits that count. */
const decimalsOf = (value: number, most = 2): number => {
  const size = Math.abs(value)
  if (Number.isInteger(value) || size >= 100) return 0
  return Math.min(most, size >= 10 ? 1 : 2)
}

/** A number of about three digits: `1,234`, `56.7`, `0.12`. */
const number = (value: number): string => grouped(value, decimalsOf(value))

/** `850 ms`, `9.4 s`, `9 s`, `48 s`, `3 min 5 s`, `2 h 10 min`. */
function wait(ms: number): string {
  const size = Math.abs(ms)
  const sign = ms < 0 ? '−' : ''
  if (Math.round(size) < 1000) return `${sign}${Math.round(size)} ms`
  if (size < 9950) return `${sign}${Number((size / 1000).toFixed(1))} s`
  const seconds = Math.round(size / 1000)
  if (seconds < 120) return `${sign}${seconds} s`
  const [minutes, rest] = [Math.floor(seconds / 60), seconds % 60]
  if (minutes < 120) return `${sign}${minutes} min${rest === 0 ? '' : ` ${rest} s`}`
  return `${sign}${Math.floor(minutes / 60)} h${minutes % 60 === 0 ? '' : ` ${minutes % 60} min`}`
}

/** A quantity with its unit. @param currency of money. */
export function quantity(value: number, unit: Unit, currency = ''): string {
  switch (unit) {
    case 'ms':
      return wait(value)
    case 'roundTripMs':
      return `${grouped(value, 0)} ms`
    case 'share':
      return `${grouped(value * 100, 1)} %`
    case 'km':
      return `${grouped(value, 0)} km`
    case 'hours':
      return `${number(value)} h`
    case 'money':
      return `${number(value)} ${currency}`.trim()
    case 'count':
      return grouped(value, 0)
    case 'skill':
      return number(value)
  }
}

/** A difference with its sign: `+3.2 s`, `−1.4 points`, `±0`. Differences of shares are percentage points. */
export function signed(value: number, unit: Unit, currency = ''): string {
  const points = `${grouped(value * 100, 1)} points`
  const text = unit === 'share' ? points : quantity(value, unit, currency)
  if (!/[1-9]/.test(text)) return '±0'
  return value > 0 ? `+${text}` : text
}

/** An interval of differences, with the unit once: `+12.4 to +13.5 points`. */
export function interval(low: number, high: number, unit: Unit, currency = ''): string {
  const [from, to] = [signed(low, unit, currency), signed(high, unit, currency)]
  const ending = / [^ ]+$/.exec(to)?.[0] ?? ''
  const isSimple = ending !== '' && from.endsWith(ending) && !/ .* /.test(from) && !/ .* /.test(to)
  return `${isSimple ? from.slice(0, -ending.length) : from} to ${to}`
}
