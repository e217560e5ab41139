import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { inFolder } from '../in-folder.fixture.js'

const { run, read, file: write } = inFolder()

const file = (name: string, ...lines: readonly string[]) => write(name, lines.join('\n'))
const labTest = (args: readonly string[] = [], isTTY = false) => run(['lab', 'test', ...args], { isTTY })

const QUEUES = [
  'queues:',
  '  - name: duel',
  '    matchSize: 2',
  '    rules: [{ kind: difference, attribute: skill, max: 50 }]',
]
const SCENES = [
  'queues: queues.yaml',
  'scenes:',
  '  - name: Friends play',
  '    tickets: { a: { skill: 1 }, b: { skill: 2 } }',
  '    expect:',
  '      after 1s: { matched: [[a, b]] }',
]
const FAILING = [
  '  - name: Strangers play',
  '    tickets: { a: { skill: 1 }, b: { skill: 99 } }',
  '    expect:',
  '      after 1s:',
  '        matched: [[a, b]]',
]

describe('muster lab test', () => {
  test('muster lab test reports what passed, and for a failure what happened instead, why, and where', async () => {
    await file('queues.yaml', ...QUEUES)
    await file('scenes.yaml', ...SCENES, ...FAILING)
    expect(await labTest()).toEqual({
      code: 1,
      err: '',
      out: [
        'scenes.yaml, by the queues of queues.yaml',
        '  passed: Friends play',
        '  failed: Strangers play',
        '      scenes.yaml:11:9: after 1s: matched: [[a, b]]',
        '        a and b wait. Between a and b rule "difference skill" allows 50, but it is 98',
        '1 passed, 1 failed',
        '',
      ].join('\n'),
    })
    const { out, code } = await labTest(['--only', 'Friends'], true)
    const head = '\u{1B}[1mscenes.yaml, by the queues of queues.yaml\u{1B}[0m'
    expect([code, out]).toEqual([0, `${head}\n  \u{1B}[32m✓\u{1B}[0m Friends play\n1 passed, 0 failed\n`])
    expect((await labTest([], true)).out).toContain('  \u{1B}[31m✗\u{1B}[0m Strangers play\n')
  })

  test('muster lab test passes the published example', async () => {
    const example = fileURLToPath(new URL('../../../../../examples/lab/scenes.yaml', import.meta.url))
    const { out, code, err } = await labTest([example])
    expect([code, err]).toEqual([0, ''])
    expect(out).toMatch(/\n10 passed, 0 failed\n$/)
  })

  test('muster lab test takes the queues next to the scenes, from an option, or from the file itself', async () => {
    await file('sub/queues.yaml', ...QUEUES)
    await file('sub/scenes.yaml', ...SCENES)
    await file('loose.yaml', ...QUEUES.map((line) => line.replace('max: 50', 'max: 500')))
    await file('one.yaml', ...QUEUES, ...SCENES.slice(1), ...FAILING)
    expect((await labTest(['sub/scenes.yaml'])).out).toContain('sub/scenes.yaml, by the queues of sub/queues.yaml\n')
    expect((await labTest(['sub/scenes.yaml', '--queues', 'loose.yaml'])).code).toBe(0)
    const { code, out } = await labTest(['sub/scenes.yaml', 'one.yaml'])
    expect([code, out.split('\n').at(-2)]).toEqual([1, '2 passed, 1 failed'])
    expect((await labTest(['one.yaml', '-q', 'loose.yaml'])).code).toBe(0)
  })

  test('muster lab test writes JUnit for CI and JSON for programs, even for an invalid file', async () => {
    await file('queues.yaml', ...QUEUES)
    await file('scenes.yaml', ...SCENES, ...FAILING)
    const { code, out, err } = await labTest(['--json', '--junit', 'report.xml'])
    expect([code, err]).toEqual([1, ''])
    expect(JSON.parse(out)).toEqual({
      passed: 1,
      failed: 1,
      files: [
        {
          file: 'scenes.yaml',
          scenes: [
            { name: 'Friends play', line: 3, passed: true, failures: [] },
            {
              name: 'Strangers play',
              line: 7,
              passed: false,
              failures: [
                {
                  line: 11,
                  expected: 'after 1s: matched: [[a, b]]',
                  instead: 'a and b wait. Between a and b rule "difference skill" allows 50, but it is 98',
                },
              ],
            },
          ],
        },
      ],
    })
    expect(await read('report.xml')).toContain('<testcase name="Friends play"')
    const wrong = await labTest(['nowhere.yaml', '--json', '--junit', 'report.xml'])
    expect(wrong.code).toBe(2)
    expect(JSON.parse(wrong.out)).toMatchObject({ files: [{ wrong: ['nowhere.yaml: does not exist'] }] })
    expect(await read('report.xml')).toContain('errors="1"')
  })

  test('muster lab test reports after the results that a report file cannot be written', async () => {
    await file('queues.yaml', ...QUEUES)
    await file('scenes.yaml', ...SCENES)
    const { code, out, err } = await labTest(['--junit', 'nowhere/report.xml'])
    expect([code, err]).toEqual([1, 'error: nowhere/report.xml cannot be written (ENOENT)\n'])
    expect(out).toContain('1 passed, 0 failed\n')
  })

  test('muster lab test escapes a name that would move the cursor', async () => {
    await file('queues.yaml', ...QUEUES)
    await file('scenes.yaml', ...SCENES.map((line) => line.replace('Friends play', '"a\\e[2Jb\\nc"')))
    expect((await labTest()).out).toContain('  passed: a\u{fffd}[2Jb\u{fffd}c\n')
  })
})

describe('muster lab test with an invalid file', () => {
  test('muster lab test reports each fault of the scenes with line, column and excerpt, and runs nothing', async () => {
    await file('queues.yaml', ...QUEUES)
    await file('scenes.yaml', ...SCENES.map((line) => line.replace('skill: 2', 'skil: 2').replace('[a, b]', '[a, c]')))
    expect(await labTest()).toEqual({
      code: 2,
      out: '',
      err: [
        'scenes.yaml:4:38: error: scenes.0.tickets.b.skil: is not known; did you mean skill?',
        '  4 |     tickets: { a: { skill: 1 }, b: { skil: 2 } }',
        '    |                                      ^^^^',
        'scenes.yaml:6:33: error: scenes.0.expect.after 1s.matched.0.1: "c" is not a known ticket of this scene',
        '  6 |       after 1s: { matched: [[a, c]] }',
        '    |                                 ^',
        '',
        'scenes.yaml cannot be used: 2 errors.',
        '',
      ].join('\n'),
    })
  })

  test('muster lab test names the file of queues if the fault is there', async () => {
    await file('queues.yaml', ...QUEUES, '  - name: duel')
    await file('scenes.yaml', ...SCENES)
    const { code, err } = await labTest()
    expect([code, err.split('\n')[0]]).toEqual([
      2,
      'queues.yaml:5:5: error: queues.1.teams: is required unless matchSize is given',
    ])
  })

  test.each([
    ['', 'scenes.yaml:1:1: error: is empty: it must have scenes'],
    ['- 5', 'scenes.yaml:1:1: error: must be queues: and scenes:'],
    ['scenes: []', 'scenes.yaml:1:1: error: names no queues: write queues: ./muster.yaml, or give --queues'],
    ['queues: 5', 'scenes.yaml:1:9: error: queues: names no queues: write queues: ./muster.yaml, or give --queues'],
    ['queues: queue.yaml', 'queue.yaml: error: does not exist; did you mean '],
    ['queues: queues.yaml', 'scenes.yaml:1:1: error: scenes: is missing'],
    ['scenes: [', 'scenes.yaml:1:10: error: has a [ without its ]'],
    [
      'a: &a [x, x]\nb: &b [*a, *a]\nscenes: [*b, *c]',
      'scenes.yaml:3:14: error: scenes.1: is an alias without an anchor',
    ],
    [
      `queues: queues.yaml\nscenes:\n- &a { name: x, tickets: { a: {}, a: {} } }\n- *a`,
      'scenes.yaml:3:35: error: scenes.0.tickets.a: is a duplicate key',
    ],
  ])('muster lab test refuses the scenes %j', async (text, says) => {
    await file('queues.yaml', ...QUEUES)
    await file('scenes.yaml', text)
    const { code, err } = await labTest()
    expect(code).toBe(2)
    expect(err).toContain(says)
  })

  test('muster lab test refuses exponential aliases before they are expanded', async () => {
    const floors = Array.from({ length: 30 }, (_, n) => `x${n + 1}: &x${n + 1} [${'*x'.concat(`${n}, `).repeat(9)}]`)
    await file('queues.yaml', ...QUEUES)
    await file('scenes.yaml', 'x0: &x0 [lol]', ...floors, 'queues: queues.yaml', 'scenes: *x30')
    const { code, err } = await labTest()
    expect(code).toBe(2)
    expect(err).toContain('has more than 200000 values, with those behind its aliases')
  })

  test('muster lab test refuses the name of a scene that does not exist', async () => {
    await file('queues.yaml', ...QUEUES)
    await file('scenes.yaml', ...SCENES)
    expect(await labTest(['--only', 'foes'])).toMatchObject({ code: 2, err: 'no scene has "foes" in its name\n' })
  })
})
