import { describe, expect, test } from 'vitest'
import { inFolder } from './in-folder.fixture.js'

const { run, read, file } = inFolder()

const SECRETS = {
  MUSTER_TOKEN: 'hunter2-token',
  MUSTER_JWT_SECRET: 'hunter2'.repeat(5),
  MUSTER_BACKEND_KEY: 'hunter2-backend-key',
  MUSTER_OPERATOR_KEY: 'hunter2-operator-key',
}

/** Runs a command in the folder. */
const muster = (args: string, env: Readonly<Record<string, string>> = {}, isTTY = false) =>
  run(args === '' ? [] : args.split(' '), { env, isTTY })

describe('muster init', () => {
  test('muster init writes a configuration that is valid without a warning, and prints the next steps', async () => {
    const { code, out, err } = await muster('init')
    expect([code, err]).toEqual([0, ''])
    expect(out).toMatch(/^Wrote muster.yaml, and muster.schema.json, by which editors complete it.\n/)
    for (const name of Object.keys(SECRETS)) expect(out).toContain(name)
    const checked = await muster('check', SECRETS)
    expect([checked.code, checked.err]).toEqual([0, ''])
    expect(checked.out).toMatch(/^muster.yaml is valid.\n\nduel\n {2}A match has two players.\n/)
    expect(checked.out).toContain('\n5v5\n  Two teams of five players.\n')
    expect(checked.out).not.toContain('hunter2')
  })

  test('muster init writes the schema that the file refers to, equal to that of the package', async () => {
    await muster('init game/server')
    const written = await read('game/server/muster.yaml')
    expect(written).toMatch(/^# yaml-language-server: \$schema=\.\/muster\.schema\.json\n/)
    const schema = await read('game/server/muster.schema.json')
    expect(`${(await muster('schema')).out}`).toBe(schema)
    expect(JSON.parse(schema)).toMatchObject({ title: 'muster.yaml', type: 'object' })
  })

  test('muster init refers to the schema of the installed package, if there is one', async () => {
    await file('node_modules/@muster/server/muster.schema.json', '{}')
    const { out } = await muster('init sub')
    expect(out).toMatch(/^Wrote sub\/muster.yaml.\n/)
    expect(await read('sub/muster.yaml')).toMatch(
      /\$schema=\.\.\/node_modules\/@muster\/server\/muster\.schema\.json\n/,
    )
  })

  test('muster init overwrites an existing file only with --force', async () => {
    await file('muster.yaml', 'mine')
    const { code, err } = await muster('init')
    expect([code, err]).toEqual([1, 'muster.yaml exists already and was not changed: --force overwrites it.\n'])
    expect(await read('muster.yaml')).toBe('mine')
    expect((await muster('init --force')).code).toBe(0)
    expect(await read('muster.yaml')).toContain('name: my-game')
  })
})

test('muster check has nothing to test live and no creates to estimate for own machines alone', async () => {
  const pool = 'places: [{ name: A, latitude: 0, longitude: 0 }], enrol: [{ key: { file: key }, place: A, max: 6 }]'
  await file('key', 'k'.repeat(32))
  await file('muster.yaml', `pools: [{ name: a, ${pool} }]\nqueues: [{ name: duel, matchSize: 2, pool: a }]\n`)
  const { code, out } = await muster('check --live')
  expect([code, out]).toEqual([0, 'Nothing to test: the configuration has no service and no sources.\n'])
  const checked = await muster('check')
  expect(checked.out).toContain('Six servers of your own at A at most')
  expect(checked.out).not.toContain('create requests')
})

describe('an invalid command line', () => {
  test.each([
    [
      'dev muster.yaml',
      '"muster.yaml" is not a program that can be started. The command of a game server stands after --',
    ],
    ['dev .', '"." is not a program that can be started. The command of a game server stands after --'],
    ['dev ./', '"./" is not a program that can be started. The command of a game server stands after --'],
    ['dev --token a:b', "argument 'a:b' is invalid. must be letters, digits and any of - . _ ~ + /"],
    ['lab nosuch', "error: unknown command 'nosuch'\nmuster lab --help lists all commands\n"],
    ['lab run a', "'-q, --queues <file>' not specified\nmuster lab run --help lists all options\n"],
    ['serve --nosuch', "error: unknown option '--nosuch'\nmuster serve --help lists all options\n"],
    ['nosuch', "error: unknown command 'nosuch'\nmuster --help lists all commands\n"],
  ])('muster refuses the command line %j with what helps', async (args, words) => {
    const { code, out, err } = await muster(args)
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain(words)
  })

  test('muster verify-server refuses an empty client', async () => {
    expect(await run(['verify-server', '--client', ' ', '--', 'node'])).toMatchObject({
      code: 2,
      err: 'error: --client: must be a command, or a URL\n',
    })
  })
})

describe('a file that muster init cannot write', () => {
  test('muster init names the folder or the file that it cannot write, and ends', async () => {
    await file('in-the-way', '')
    for (const folder of ['in-the-way', 'in-the-way/game'])
      expect(await muster(`init ${folder}`)).toMatchObject({
        code: 1,
        err: 'error: The folder in-the-way cannot be created (EEXIST)\n',
      })
    await file('game/muster.yaml/a-folder', '')
    expect((await muster('init game --force')).err).toBe('error: game/muster.yaml cannot be written (EISDIR)\n')
    if (process.platform === 'linux')
      expect((await muster('init /proc/muster')).err).toContain('/proc/muster cannot be created (ENOENT)')
  })

  test('muster init prints commands that work as printed if the folder has spaces', async () => {
    expect((await run(['init', 'my game'])).out).toContain('muster check -c "my game/muster.yaml"   checks')
    expect((await run(['init', 'for 5 $'])).out).toContain("muster serve -c 'for 5 $/muster.yaml'   runs")
  })
})

describe('muster check', () => {
  const wrong = 'service: { url: https://service.example, token: hunter2 }\nqueues: []\n'

  test('muster check reports errors with line, column and the line itself on standard error', async () => {
    await file('muster.yaml', wrong)
    const { code, out, err } = await muster('check')
    expect([code, out]).toEqual([2, ''])
    expect(err).toMatch(/^muster.yaml:1:49: error: service.token: is a secret, which must not be in this file/)
    expect(err).toContain('\nmuster.yaml:2:9: error: queues: must not be empty\n  2 | queues: []\n    |         ^^\n')
    expect(err).toMatch(/\n\nmuster.yaml cannot be used: 2 errors.\n$/)
    expect(err).not.toContain('hunter2')
  })

  test('muster check names missing variables, and ignores them on request', async () => {
    await muster('init')
    const { code, err } = await muster('check', { MUSTER_TOKEN: 'x' })
    expect(code).toBe(2)
    expect(err).toContain('the environment variable MUSTER_JWT_SECRET is not set')
    expect(err).toContain('the environment variable MUSTER_BACKEND_KEY is not set')
    expect(err).toContain('cannot be used: 3 errors')
    expect(await muster('check --without-secrets')).toMatchObject({ code: 0, err: '' })
  })

  test('muster check --json reports errors with line and column, and sentences and curves of each queue', async () => {
    await file('wrong.yaml', wrong)
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

  test('muster check describes each pool and its cost at three loads, or at the given one', async () => {
    await file('muster.yaml', POOLED)
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
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('The value must be a number above 0')])
  })

  test('muster check reports a file that does not exist', async () => {
    const { code, err } = await muster('check -c none.yaml')
    expect([code, err]).toEqual([2, 'none.yaml: error: does not exist\n\nnone.yaml cannot be used: 1 error.\n'])
  })

  test('muster check uses colours only on a terminal', async () => {
    await file('muster.yaml', wrong)
    expect((await muster('check', {}, true)).err).toContain('\u{1B}[31merror\u{1B}[0m')
    expect((await muster('check', {}, false)).err).not.toContain('\u{1B}')
    expect((await muster('check', { NO_COLOR: '1' }, true)).err).not.toContain('\u{1B}')
  })
})

describe('the command line of muster', () => {
  test.each([
    ['chek', "error: unknown command 'chek'\n(Did you mean check?)\n"],
    ['check --jsn', "error: unknown option '--jsn'\n(Did you mean --json?)\n"],
    ['check -c', "error: option '-c, --config <file>' argument missing\n"],
    ['init one two', "error: too many arguments for 'init'. Expected 1 argument but got 2.\n"],
  ])('the command line muster %s is refused as wrong usage', async (args, words) => {
    const { code, out, err } = await muster(args)
    expect([code, out]).toEqual([2, ''])
    expect(err.startsWith(words), err).toBe(true)
    expect(err).toMatch(/^muster( [a-z]+)* --help lists all /m)
  })

  test('muster exits with 0 for help and version, and with an error without a command', async () => {
    expect(await muster('--version')).toMatchObject({ code: 0, err: '' })
    const { code, out } = await muster('--help')
    expect(code).toBe(0)
    for (const command of ['init', 'check', 'schema']) expect(out).toContain(`\n  ${command}`)
    expect((await muster('')).code).toBe(2)
  })
})
