/** Checks that each text that docs/what-can-go-wrong.md quotes from the program is in the source. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { filesBelow } from './imports/files.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const page = read('docs/what-can-go-wrong.md')

/** The program's source as one text, without tests and comments. Concatenated strings are joined. */
const sourceOf = (folders: string) =>
  filesBelow(root, 'packages')
    .filter((path) => new RegExp(`^packages/(${folders})/.*\\.tsx?$`).test(path))
    .filter((path) => !/\.(test|test-d|fixture)\.tsx?$/.test(path))
    .map((path) => readFileSync(join(root, path), 'utf8').replaceAll(/^\s*(\/\*\*[\s\S]*?\*\/|\/\/.*)$/gm, ''))
    .join('\n')
    .replaceAll(/['"`]\s*\+\s*['"`]/g, '')
const source = sourceOf(String.raw`[\w-]+/src`)

/** Returns the statuses of each error code in a source. */
function statusesIn(text: string): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>()
  const note = (code: string, status: string) => found.set(code, (found.get(code) ?? new Set()).add(status))
  for (const [, status = '', code = ''] of text.matchAll(/(?<!: )\b(\d{3}),\s*'([a-z][a-z-]+)'/g)) note(code, status)
  for (const [, code = ''] of text.matchAll(/\bconflict\('([a-z-]+)'/g)) note(code, '409')
  for (const [, code = ''] of text.matchAll(/\binvalidToken\('([a-z-]+)'/g)) note(code, '401')
  // Codes of refusals have the status of a table, or 409.
  const own = new Map(
    Array.from(text.matchAll(/^\s*'?([a-z-]+)'?: (\d{3}),/gm), ([, code = '', status = '']) => [code, status]),
  )
  for (const [, code = ''] of text.matchAll(/\bnew \w+Refused\(\s*'([a-z-]+)'/g)) note(code, own.get(code) ?? '409')
  return found
}
const statuses = statusesIn(source)

const metrics = new Set(Array.from(source.matchAll(/'(muster(?:\.[a-z_0-9]+)+)'/g), ([, name]) => name))

/** Quotations that are not checked here: commands, requests, paths and parts of files. */
const ISSUED = /^((muster|curl|npx|GET|POST|DELETE) .*|\/\w+|muster\.(yaml|log)|[\w.]+\(\))$/

/** True if the source has every part of a sentence. The sentence may begin with an error's class. */
function isSaid(sentence: string): boolean {
  const [, error = '', text = ''] = /^([A-Z]\w+): (.*)$/.exec(sentence) ?? []
  const words = source.includes(`class ${error} extends`) ? text : sentence
  const parts = words.split('…').map((part) => part.trim())
  return parts.every((part) => source.includes(part)) && parts.some((part) => part !== '')
}

/** True if the source has a word as a string or as a field's name. Only the last name of a path is checked. */
function isNamed(path: string): boolean {
  const word = path.split('.').at(-1) ?? ''
  return source.includes(`'${word}'`) || new RegExp(`\\b${word}\\??:|[{,] ${word}[ ,]`).test(source)
}

/** Cache of comparisons, because the compared pages differ in one quotation only. */
const known = new Map<string, boolean>()
function isTrue(quoted: string): boolean {
  const isMetric = /^muster(\.\w+)+$/.test(quoted)
  const found =
    known.get(quoted) ?? (isMetric ? metrics.has(quoted) : / |…/.test(quoted) ? isSaid(quoted) : isNamed(quoted))
  known.set(quoted, found)
  return found
}

/** Returns the quotations of a page that are not in the source. */
function falseQuotes(text: string): string[] {
  const prose = text.replaceAll(/^```[\s\S]*?^```/gm, '').replaceAll(/\]\([^)]*\)/g, ']')
  const wrong: string[] = []
  let rest = prose.replaceAll(/\b(\d{3}) `([^`]+)`/g, (quoted, status: string, code: string) => {
    if (statuses.get(code)?.has(status) !== true) wrong.push(quoted)
    return ''
  })
  rest = rest.replaceAll(/`"(during|tickets)":("[\w ]+"|\d+)`/g, (quoted, key: string, value: string) => {
    if (!source.includes(key) || (key === 'during' && !source.includes(`'${value.slice(1, -1)}'`))) wrong.push(quoted)
    return ''
  })
  for (const [, quoted = ''] of rest.matchAll(/`([^`]+)`/g)) {
    if (!ISSUED.test(quoted) && !isTrue(quoted)) wrong.push(quoted)
  }
  return wrong
}

test('docs/what-can-go-wrong.md quotes only existing error codes, metrics, sentences and fields', () => {
  expect(falseQuotes(page)).toEqual([])
})

test('docs/ticket-api.md lists every error code of the ticket API, with its statuses', () => {
  const [, section = ''] = /^## Error codes$([\s\S]*?)^## /m.exec(read('docs/ticket-api.md')) ?? []
  const answered = statusesIn(sourceOf('core/src/http|matchmaker/src/http-api|hosting/src/(seats|browser|fleet)'))
  const missing = [...answered].flatMap(([code, all]) =>
    [...all]
      .filter(
        (status) => !section.split('\n').some((row) => row.startsWith(`| ${status} `) && row.includes(`\`${code}\``)),
      )
      .map((status) => `${status} ${code}`),
  )
  // 499 is answered to nobody: the client has gone.
  expect(missing.filter((one) => one !== '499 client-gone')).toEqual([])
  expect(falseQuotes(section)).toEqual([])
})

test('packages/relay/README.md lists every error code of the lobby API', () => {
  const page = read('packages/relay/README.md')
  const [, codes = ''] =
    /LobbyRefusalCode, number>> = \{([^}]*)/.exec(read('packages/relay/src/api/lobby-api.ts')) ?? []
  const all = Array.from(
    codes.matchAll(/^\s*'?([\w-]+)'?: (\d+),/gm),
    ([, code = '', status = '']) => `| ${status} \`${code}\` |`,
  )
  expect(all.length).toBeGreaterThan(10)
  expect(all.filter((row) => !page.includes(row))).toEqual([])
})

test('a false quote in docs/what-can-go-wrong.md is detected', () => {
  const wrong = [
    ['409 `player-busy`', '409 `player-bussy`'],
    ['409 `player-busy`', '404 `player-busy`'],
    ['`muster.api.throttled`', '`muster.api.throtled`'],
    ['`the service refuses the token`', '`the service refused the token`'],
    ['`ClockDiffers: The clock', '`ClockDifers: The clock'],
    ['`maxAttempts`', '`maxAtempts`'],
    ['`"during":"stop"`', '`"during":"stopp"`'],
  ]
  for (const [quoted = '', other = ''] of wrong) {
    expect(page).toContain(quoted)
    expect(falseQuotes(page.replace(quoted, other)), other).toHaveLength(1)
  }
})

test('docs/what-can-go-wrong.md has at most 150 lines, and its table rows have four cells', () => {
  expect(page.trimEnd().split('\n').length).toBeLessThanOrEqual(150)
  const rows = page.split('\n').filter((line) => line.startsWith('|'))
  expect(rows.length).toBeGreaterThan(50)
  expect(rows.filter((row) => row.split(' | ').length !== 4 && !row.startsWith('|---'))).toEqual([])
})

test('docs/what-can-go-wrong.md links the runbook of every alert, and every anchor exists', () => {
  const anchorOf = (heading: string) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-')
  const wrong = Array.from(page.matchAll(/\]\((?!http)([^)#]*)(?:#([^)]+))?\)/g)).filter(([, path = '', anchor]) => {
    const target = readFileSync(join(root, 'docs', path || 'what-can-go-wrong.md'), 'utf8')
    const anchors = Array.from(target.matchAll(/^#+ (.+)$/gm), ([, heading = '']) => anchorOf(heading))
    return anchor !== undefined && !anchors.includes(anchor)
  })
  expect(wrong.map(([link]) => link)).toEqual([])
  const runbooks = readFileSync(join(root, 'docs/runbooks.md'), 'utf8')
  const alerts = Array.from(runbooks.matchAll(/^## (\w+)$/gm), ([, name = '']) => name)
  expect(alerts.filter((name) => !page.includes(`(runbooks.md#${name.toLowerCase()})`))).toEqual([])
})
