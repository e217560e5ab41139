import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { runProgram } from './program.js'
import { terminalOf } from './terminal.js'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster-cli-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const SECRETS = {
  MUSTER_TOKEN: 'hunter2-token',
  MUSTER_JWT_SECRET: 'hunter2'.repeat(5),
  MUSTER_BACKEND_KEY: 'hunter2-backend-key',
  MUSTER_OPERATOR_KEY: 'hunter2-operator-key',
}

/** Runs a command in the folder. */
async function muster(args: string, env: Record<string, string> = {}, isTTY = false) {
  const [out, err]: [string[], string[]] = [[], []]
  const stream = (lines: string[]) => ({ isTTY, write: (text: string) => lines.push(text) > 0 })
  const process = { stdout: stream(out), stderr: stream(err), env, cwd: () => folder }
  const code = await runProgram(args === '' ? [] : args.split(' '), terminalOf(process))
  return { code, out: out.join(''), err: err.join('') }
}

describe('muster init', () => {
  test('writes a configuration that is right without a warning, and says what to do next', async () => {
    const { code, out, err } = await muster('init')
    expect([code, err]).toEqual([0, ''])
    expect(out).toMatch(/^Wrote muster.yaml, and muster.schema.json, by which editors complete it.\n/)
    for (const name of Object.keys(SECRETS)) expect(out).toContain(name)
    const checked = await muster('check', SECRETS)
    expect([checked.code, checked.err]).toEqual([0, ''])
    expect(checked.out).toMatch(/^muster.yaml is right.\n\nduel\n {2}A match has two players.\n/)
    expect(checked.out).toContain('\n5v5\n  Two teams of five players.\n')
    expect(checked.out).not.toContain('hunter2')
  })

  test('the schema that the file names is there, and is that of the package', async () => {
    await muster('init game/server')
    const file = await readFile(join(folder, 'game', 'server', 'muster.yaml'), 'utf8')
    expect(file).toMatch(/^# yaml-language-server: \$schema=\.\/muster\.schema\.json\n/)
    const schema = await readFile(join(folder, 'game', 'server', 'muster.schema.json'), 'utf8')
    expect(`${(await muster('schema')).out}`).toBe(schema)
    expect(JSON.parse(schema)).toMatchObject({ title: 'muster.yaml', type: 'object' })
  })

  test('where the package is installed, its own schema is named, which changes with its version', async () => {
    const installed = join(folder, 'node_modules', '@muster', 'server')
    await mkdir(installed, { recursive: true })
    await writeFile(join(installed, 'muster.schema.json'), '{}')
    const { out } = await muster('init sub')
    expect(out).toMatch(/^Wrote sub\/muster.yaml.\n/)
    const file = await readFile(join(folder, 'sub', 'muster.yaml'), 'utf8')
    expect(file).toMatch(/\$schema=\.\.\/node_modules\/@muster\/server\/muster\.schema\.json\n/)
  })

  test('overwrites nothing unless requested', async () => {
    await writeFile(join(folder, 'muster.yaml'), 'mine')
    const { code, err } = await muster('init')
    expect([code, err]).toEqual([1, 'muster.yaml is there already, and was left as it is: --force writes over it.\n'])
    expect(await readFile(join(folder, 'muster.yaml'), 'utf8')).toBe('mine')
    expect((await muster('init --force')).code).toBe(0)
    expect(await readFile(join(folder, 'muster.yaml'), 'utf8')).toContain('name: my-game')
  })
})

describe('muster check', () => {
  const wrong = 'service: { url: https://service.example, token: hunter2 }\nqueues: []\n'

  test('says what is wrong with line, column and the line itself, to the standard error', async () => {
    await writeFile(join(folder, 'muster.yaml'), wrong)
    const { code, out, err } = await muster('check')
    expect([code, out]).toEqual([2, ''])
    expect(err).toMatch(/^muster.yaml:1:49: error: service.token: is a secret, which never stands in this file/)
    expect(err).toContain('\nmuster.yaml:2:9: error: queues: must not be empty\n  2 | queues: []\n    |         ^^\n')
    expect(err).toMatch(/\n\nmuster.yaml cannot be used: 2 errors.\n$/)
    expect(err).not.toContain('hunter2')
  })

  test('names missing variables, and ignores them on request', async () => {
    await muster('init')
    const { code, err } = await muster('check', { MUSTER_TOKEN: 'x' })
    expect(code).toBe(2)
    expect(err).toContain('the environment variable MUSTER_JWT_SECRET is not set')
    expect(err).toContain('the environment variable MUSTER_BACKEND_KEY is not set')
    expect(err).toContain('cannot be used: 3 errors')
    expect(await muster('check --without-secrets')).toMatchObject({ code: 0, err: '' })
  })

  test('reports everything as JSON for programs', async () => {
    await writeFile(join(folder, 'wrong.yaml'), wrong)
    const { code, out, err } = await muster('check -c wrong.yaml --json')
    expect([code, err]).toEqual([2, ''])
    expect(JSON.parse(out)).toMatchObject({
      file: 'wrong.yaml',
      valid: false,
      findings: [
        { severity: 'error', field: 'service.token', line: 1, column: 49 },
        { severity: 'error', field: 'queues', message: 'must not be empty', line: 2, column: 9 },
      ],
    })
    await muster('init')
    const right = JSON.parse((await muster('check --json', SECRETS)).out) as {
      queues: { name: string; sentences: string[]; curves: { rule: string }[] }[]
    }
    expect(right).toMatchObject({ valid: true, findings: [] })
    expect(right.queues[1]?.sentences[0]).toBe('Two teams of five players.')
    expect(right.queues[1]?.curves.map(({ rule }) => rule)).toEqual(['distance', 'difference skill', 'balance skill'])
  })

  const POOLED = `
service: { url: https://service.example, token: { env: TOKEN } }
spending: { pricePerMinute: 0.0015 }
pools:
  - name: arena
    deploy: { application: game, version: '1', hiddenEnvironment: { KEY: hunter2 } }
    warm: { hit: 0.95, max: 20 }
    reuse: { maxMatches: 20 }
queues: [{ name: duel, matchSize: 2, pool: arena }]
`

  test('describes each pool, and what it costs at three loads or the one that is given', async () => {
    await writeFile(join(folder, 'muster.yaml'), POOLED)
    const usual = (await muster('check --without-secrets')).out
    expect(usual).toContain('\npool arena\n  Its servers run game, version 1.\n')
    expect(usual.match(/With [\d,]+ matches an hour/g)).toEqual([
      'With 60 matches an hour',
      'With 600 matches an hour',
      'With 6,000 matches an hour',
    ])
    const one = await muster('check --without-secrets --matches-per-hour 900 --boot-seconds 20 --match-minutes 15')
    const words =
      'With 900 matches an hour of 15 min each, and boots of 20 s, nine servers are kept warm: 96.3 % of matches ' +
      'find one, and 4.2 are idle on average, 1.9 % of the 225 that play; 0.05 create requests a match. ' +
      'Idle servers cost 0.38 USD an hour.'
    expect(one.out.trimEnd().endsWith(words)).toBe(true)
    const { pools } = JSON.parse((await muster('check --without-secrets --json --matches-per-hour 900')).out) as {
      pools: object[]
    }
    expect(pools).toMatchObject([{ name: 'arena', costs: [{ matchesPerHour: 900, warm: 9 }] }])
    expect(usual + JSON.stringify(pools)).not.toContain('hunter2')
    const wrong = await muster('check --matches-per-hour many')
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('It must be a number above 0')])
  })

  test('a file that is not there', async () => {
    const { code, err } = await muster('check -c none.yaml')
    expect([code, err]).toEqual([2, 'none.yaml: error: is not there\n\nnone.yaml cannot be used: 1 error.\n'])
  })

  test('is coloured for people only', async () => {
    await writeFile(join(folder, 'muster.yaml'), wrong)
    expect((await muster('check', {}, true)).err).toContain('\u{1B}[31merror\u{1B}[0m')
    expect((await muster('check', {}, false)).err).not.toContain('\u{1B}')
    expect((await muster('check', { NO_COLOR: '1' }, true)).err).not.toContain('\u{1B}')
  })
})

describe('the command line', () => {
  test.each([
    ['chek', "error: unknown command 'chek'\n(Did you mean check?)\n"],
    ['check --jsn', "error: unknown option '--jsn'\n(Did you mean --json?)\n"],
    ['check -c', "error: option '-c, --config <file>' argument missing\n"],
    ['init one two', "error: too many arguments for 'init'. Expected 1 argument but got 2.\n"],
  ])('%s is wrong usage', async (args, words) => {
    const { code, out, err } = await muster(args)
    expect([code, out]).toEqual([2, ''])
    expect(err.startsWith(words), err).toBe(true)
    expect(err).toContain('muster --help')
  })

  test('help and version are no errors; no command is', async () => {
    expect(await muster('--version')).toMatchObject({ code: 0, err: '' })
    const { code, out } = await muster('--help')
    expect(code).toBe(0)
    for (const command of ['init', 'check', 'schema']) expect(out).toContain(`\n  ${command}`)
    expect((await muster('')).code).toBe(2)
  })
})
