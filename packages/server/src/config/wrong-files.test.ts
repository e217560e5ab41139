import { inspect } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Finding, InvalidConfig } from './findings.js'
import { readConfigText } from './read-config.js'
import { BASE, WRONG_FILES } from './wrong-files.fixture.js'
import { WRONG_YAML } from './wrong-yaml.fixture.js'

const FILES = [...WRONG_FILES, ...WRONG_YAML]

/** Returns the findings in a text; none if it is valid. */
async function findingsOf(text: string): Promise<readonly Finding[]> {
  try {
    await readConfigText(text, { path: 'muster.yaml', outside: false })
    return []
  } catch (error) {
    if (error instanceof InvalidConfig) return error.findings
    throw error
  }
}

const errorsOf = async (text: string) => (await findingsOf(text)).filter(({ severity }) => severity === 'error')

describe('an invalid configuration', () => {
  test.each(FILES.map((file) => [file.what, file] as const))(
    'an invalid configuration is refused with all its errors and their places, in order: %s',
    async (_, { text, says }) => {
      const told = (await errorsOf(text)).map(
        ({ line, column, field, message }) => `${line}:${column} ${field}: ${message}`,
      )
      expect(told).toEqual(says)
      expect(says.length).toBeGreaterThan(0)
    },
  )

  test('invalid configurations are covered by more than forty examples', () => {
    expect(FILES.length).toBeGreaterThan(40)
  })
})

test('a configuration error shows its line with a mark under the place', async () => {
  const text =
    'service: { url: https://service.example, token: { env: TOKEN } }\nlisten: { port: 70000 } # behind nginx\n'
  const [, ports] = await errorsOf(text)
  expect(ports?.excerpt).toBe('listen: { port: 70000 }\n                ^^^^^')
})

test('no configuration line shown in an error contains a string that may be a secret, except names', async () => {
  const secret = 'hunter2hunter2'
  const lines = [
    `service: { url: https://service.example, token: ${secret} }`,
    `service: { url: https://service.example, tokn: ${secret} }`,
    `service: ${secret}`,
    `token: ${secret}`,
    `listen: { port: ${secret} } # ${secret}`,
    `listen: { port: 70000 } # ${secret}`,
    `listen: { port: ${secret}, host: 5 }`,
    `inspect: ${secret}`,
    `service: { token: { env: ${secret} } }`,
    `service:\n  token: |\n    ${secret}\n  url: 5`,
    `service: { token: "${secret} }`,
    `token: secret: ${secret}`,
    `a: "x" ${secret}`,
    `service: !${secret} x`,
    `token: *${secret}`,
    `spending: &a { maxServers: ${secret}, maxStarting: *a }`,
    `auth: { keys: [ { name: a, role: look, key: ${secret} } ] }`,
    `webhook: { enabled: true, url: ${secret} }`,
    `queues: [ { name: duel, matchSize: 0, deploy: { application: game, environment: { KEY: ${secret} } } } ]`,
    `queues: [ { name: duel, deploy: { version: 1, hiddenEnvironment: { 5: ${secret} } } } ]`,
  ]
  for (const line of lines) {
    const findings = await findingsOf(`${line}\n`)
    expect(findings.length, line).toBeGreaterThan(0)
    expect(JSON.stringify(findings), line).not.toMatch(/hunter2.*hunter2/)
  }
})

test('any configuration text is either read, or refused with line and column (property)', async () => {
  const words = 'service queues name duel matchSize rules kind distance maxKm token env << __proto__:'
  const marks = '& * a : - ? | > [ ] { } , # ! % @ " \''
  const piece = fc.constantFrom(
    ...`${words} ${marks}`.split(' '),
    '\n',
    '\n  ',
    '\n    - ',
    ': ',
    ' ',
    '\t',
    '---\n',
    '\r\n',
    '5',
    '.inf',
    'null',
    '~',
    '\u{FEFF}',
  )
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 30 }), async (pieces) => {
      const findings = await findingsOf(pieces.join(''))
      expect(findings.length).toBeGreaterThan(0)
      for (const { line, column } of findings) {
        expect(line).toBeGreaterThanOrEqual(1)
        expect(column).toBeGreaterThanOrEqual(1)
      }
    }),
  )
})

test('a printed configuration error contains its findings, and no secret', async () => {
  const error: unknown = await readConfigText('service: { url: x, token: hunter2hunter2 }\n', {
    path: 'muster.yaml',
  }).catch((one: unknown) => one)
  expect(String(error)).toMatch(/\nmuster.yaml:1:17: service.url: must be an http or https URL\n/)
  expect(inspect(error)).not.toContain('hunter2')
})

describe('a configuration that would take too long to parse', () => {
  const bombs = {
    'aliases of aliases': `a: &a [x, x, x, x, x, x, x, x, x]\n${[...'bcdefghi']
      .map((name, index) => `${name}: &${name} [${`*${'abcdefgh'[index]}, `.repeat(9)}]\n`)
      .join('')}`,
    'very many aliases': `a: &a x\nb: [${'*a, '.repeat(10_000)}]\n`,
    'deep nesting': `a: ${'['.repeat(5000)}\n`,
    'deep nesting that is closed': `a: ${'['.repeat(3000)}${']'.repeat(3000)}\n`,
    'very many names': Array.from({ length: 20_000 }, (_, index) => `name${index}: 1\n`).join(''),
  }
  test.each(Object.entries(bombs))(
    'a configuration that would take too long to parse is refused quickly: %s',
    async (_, text) => {
      const before = process.cpuUsage()
      expect((await errorsOf(text)).length).toBeGreaterThan(0)
      const { user, system } = process.cpuUsage(before)
      expect((user + system) / 1e6, 'seconds of CPU').toBeLessThan(20)
    },
  )
})

test.each([
  ['the same name many times', (count: number) => `{ ${Array<string>(count).fill('a: secret').join(', ')} }`, 9999],
  ['many aliases of nothing', (count: number) => `[ ${Array<string>(count).fill('*a').join(', ')} ]`, 10_001],
] as const)(
  'of many configuration errors on one line (%s), the first are shown with the number of the others',
  async (_, listOf, faults) => {
    const errors = await errorsOf(`${BASE}x: ${listOf(10_000)}\n`)
    expect(errors).toHaveLength(101)
    expect(errors.map(({ message }) => message)).toContain(`has ${faults - 100} more errors`)
    expect(errors.every(({ excerpt = '' }) => excerpt.length < 250 && !excerpt.includes('secret'))).toBe(true)
  },
)
