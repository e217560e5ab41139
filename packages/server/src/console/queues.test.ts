import type { Applied, ErrorBody, QueueCards } from '@muster/console/internal'
import { MusterError } from '@muster/core'
import type { QueueDefinition } from '@muster/matchmaker'
import { describe, expect, test } from 'vitest'
import { openConsole } from './open-console.fixture.js'

const secret: QueueDefinition = {
  name: 'duel',
  matchSize: 2,
  rules: [
    {
      kind: 'distance',
      maxKm: [
        { afterMs: 0, value: 500 },
        { afterMs: 10_000, value: 2000 },
      ],
    },
  ],
  deploy: {
    application: 'game',
    version: '1',
    environment: { API_KEY: 's3cret' },
    hiddenEnvironment: { TOKEN: 's3cret' },
  },
}

const server = 'deploy: { application: game, version: "1" }'

async function open(options: Parameters<typeof openConsole>[0] = {}) {
  const applied: { name: string; definition: QueueDefinition; yaml: string }[] = []
  const world: Awaited<ReturnType<typeof openConsole>> = await openConsole({
    queues: [secret],
    applyQueue: async (name, definition, yaml) => {
      applied.push({ name, definition, yaml })
      const { refused } = world.use([definition])
      return { kept: 'memory', refused: refused.length }
    },
    ...options,
  })
  const card = async () => {
    const { text, body } = await world.ask('/console/api/queues', { token: 'looker' })
    expect(text).not.toContain('s3cret')
    return (body as QueueCards).queues[0] as QueueCards['queues'][number]
  }
  const put = (body: unknown, { token = 'operator', name = 'duel' } = {}) =>
    world.ask(`/console/api/queues/${name}`, { method: 'PUT', token, body })
  return { ...world, applied, card, put }
}

describe('the card of a queue in the console', () => {
  test('the queue card of the console shows sentences and curves, and the YAML without variables', async () => {
    const { card } = await open()
    const { sentences, curves, yaml, version, fixed, name } = await card()
    expect({ name, version, fixed }).toEqual({ name: 'duel', version: 1, fixed: null })
    expect(sentences.join(' ')).toMatch(/500 km at first, 2,000 km after 10 s/)
    expect(curves).toContainEqual({
      rule: 'distance',
      unit: 'km',
      shape: 'steps',
      points: [
        { after: 0, limit: 500 },
        { after: 10_000, limit: 2000 },
      ],
    })
    expect(yaml).toContain('matchSize: 2')
    expect(yaml).toContain('application: game')
  })

  test('the queue card of the console shows the pool instead of a deploy, and an edit keeps both', async () => {
    const pooled = { ...secret, pool: 'arena' }
    const pools = [{ name: 'arena', deploy: secret.deploy ?? { application: 'game', version: '1' } }]
    const { card, put, applied } = await open({ queues: [pooled], matchmaker: { pools } })
    const { yaml, version } = await card()
    expect(yaml).toContain('pool: arena')
    expect(yaml).not.toContain('deploy')
    expect(await put({ version, yaml: yaml.replace('matchSize: 2', 'matchSize: 4') })).toMatchObject({ status: 200 })
    expect(applied[0]?.definition).toMatchObject({ matchSize: 4, pool: 'arena', deploy: secret.deploy })
    const other = yaml.replace('pool: arena', 'deploy: { application: evil, version: "1" }')
    expect(await put({ version: 2, yaml: other })).toMatchObject({ status: 403, body: { code: 'deploy-fixed' } })
  })

  test('the queue card of the console says why the queue cannot be changed', async () => {
    const { card, put } = await open({ applyQueue: undefined })
    const { fixed, yaml } = await card()
    expect(fixed).toMatch(/^Queues cannot be changed here/)
    expect(await put({ version: 1, yaml })).toMatchObject({ status: 409, body: { code: 'fixed-queue' } })
    const custom = { ...secret, rules: [{ kind: 'custom', name: 'code', test: () => true }] } as QueueDefinition
    expect((await (await open({ queues: [custom] })).card()).fixed).toMatch(/^The queue has a rule that is code/)
  })
})

describe('an edit of a queue in the console', () => {
  test('a console edit of a queue keeps variables, needs permission, and makes a new version', async () => {
    const { card, put, applied, acts } = await open()
    const { yaml, version } = await card()
    const edited = yaml.replace('value: 500', 'value: 700')
    const answer = await put({ version, yaml: edited })
    expect(answer).toMatchObject({ status: 200, body: { kept: 'memory', version: 2, refused: 0 } satisfies Applied })
    expect(applied).toMatchObject([{ name: 'duel', yaml: edited, definition: { deploy: secret.deploy } }])
    expect(acts).toEqual([{ who: 'olga', what: 'apply-queue', id: 'duel' }])
    expect((await card()).sentences.join(' ')).toMatch(/700 km at first/)
    expect(await put({ version, yaml })).toMatchObject({
      status: 409,
      body: { code: 'stale-version', version: 2 },
    })
    expect(applied).toHaveLength(1)
  })

  test('only one of two simultaneous console edits of one queue version is applied', async () => {
    const { card, put, applied } = await open()
    const { yaml, version } = await card()
    const answers = await Promise.all(
      [600, 800].map((km) => put({ version, yaml: yaml.replace('value: 500', `value: ${km}`) })),
    )
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409])
    expect(applied).toHaveLength(1)
  })

  test.each([
    [
      'an unknown kind of rule',
      `name: duel\nmatchSize: 2\nrules:\n  - kind: distanse\n    maxKm: 5\n${server}`,
      4,
      /rules\.0/,
    ],
    ['an unknown field', `name: duel\nmatchSize: 2\nmatchSizes: 3\n${server}`, 3, /matchSizes: is not known/],
    ['a syntax error', 'name: duel\n  matchSize: [', 1, /./],
    ['another name', `name: other\nmatchSize: 2\n${server}`, 1, /name: must stay "duel"/],
    ['a list', '- 1', 1, /name/],
    ['an empty text', '', 1, /name/],
    ['a duplicate key', 'name: duel\nname: duel\nmatchSize: 2', 2, /is a duplicate key/],
    ['the key __proto__', '__proto__: { a: 1 }\nname: duel', 1, /__proto__/],
    ['exponential aliases', bomb(), 1, /./],
    ['nesting that is too deep', '- '.repeat(20_000), 1, /nested too deeply/],
    ['too many tokens', 'a: 1\n'.repeat(9000), 1, /more than 10000 YAML tokens/],
    ['an alias without an anchor', 'a: *nothing', 1, /alias/],
  ])('a console edit of a queue with %s is refused with the line of the fault', async (_what, yaml, line, message) => {
    const { put, applied, errors } = await open()
    const { status, body } = await put({ version: 1, yaml })
    expect({ status, code: (body as ErrorBody).code }).toEqual({ status: 422, code: 'invalid-queue' })
    const [fault] = (body as ErrorBody).faults ?? []
    expect(fault?.line).toBeGreaterThanOrEqual(line)
    expect(fault?.column).toBeGreaterThanOrEqual(1)
    expect(fault?.message).toMatch(message)
    expect(applied).toEqual([])
    expect(errors).toEqual([])
  })

  test.each([
    ['the application', (yaml: string) => yaml.replace('application: game', 'application: other')],
    ['the version', (yaml: string) => yaml.replace('version: "1"', 'version: "2"')],
    ['a variable', (yaml: string) => `${yaml}  environment: { LD_PRELOAD: /tmp/x.so }\n`],
    ['a hidden variable', (yaml: string) => `${yaml}  hiddenEnvironment: {}\n`],
    ['the probe', (yaml: string) => `${yaml}  probe: { kind: registration, url: "https://other.example" }\n`],
    ['tags', (yaml: string) => `${yaml}  tags: [a]\n`],
  ])('a console edit of a queue without the role deploy may not change the deploy: %s', async (_, edit) => {
    for (const [editDeploy, token] of [
      [false, 'operator'],
      [false, 'deployer'],
      [true, 'operator'],
      [true, 'designer'],
    ] as const) {
      const { card, put, applied, acts } = await open({ editDeploy })
      const { yaml, version } = await card()
      expect(await put({ version, yaml: edit(yaml) }, { token })).toMatchObject({
        status: 403,
        body: { code: 'deploy-fixed', field: 'deploy' },
      })
      expect([applied, acts]).toEqual([[], []])
    }
    const { card, put, applied } = await open({ editDeploy: true })
    const { yaml, version } = await card()
    expect((await put({ version, yaml: edit(yaml) }, { token: 'deployer' })).status).toBe(200)
    expect(applied).toHaveLength(1)
  })

  test('a console edit of a queue may write out or omit a default of the deploy', async () => {
    const { card, put } = await open()
    const { yaml, version } = await card()
    const written = `${yaml}  warmUpMs: 0\n  readyTimeoutMs: 180000\n`
    expect(await put({ version, yaml: written }, { token: 'designer' })).toMatchObject({ status: 200 })
    expect(await put({ version: version + 1, yaml }, { token: 'designer' })).toMatchObject({ status: 200 })
  })

  test('a refused console edit of a queue shows the reason of a MusterError, and no other reason', async () => {
    let failure: Error = new MusterError('the configuration file has changed meanwhile')
    const { card, put, acts, errors } = await open({ applyQueue: () => Promise.reject(failure) })
    const { yaml } = await card()
    expect(await put({ version: 1, yaml })).toMatchObject({ status: 409, body: { message: failure.message } })
    failure = new Error('EACCES: /etc/muster.yaml')
    const answer = await put({ version: 1, yaml })
    expect(answer.status).toBe(500)
    expect(answer.text).not.toContain('EACCES')
    expect(errors).toEqual([failure])
    expect(acts).toEqual([])
  })

  test('a console edit of a queue is refused if it is too large, malformed or for an unknown queue', async () => {
    const { put, ask } = await open()
    expect((await put({ version: 1, yaml: 'x'.repeat(100_001) })).status).toBe(400)
    expect((await put({ version: 1, yaml: 'x'.repeat(300_000) })).status).toBe(413)
    expect((await put({ version: -1, yaml: 'a' })).status).toBe(400)
    expect((await put({ version: 1 })).status).toBe(400)
    expect((await put({ version: 1, yaml: 'a', name: 'b' })).status).toBe(400)
    expect((await put({ version: 1, yaml: 'a' }, { name: 'duell' })).body).toMatchObject({
      code: 'no-such-queue',
      message: expect.stringContaining('did you mean duel?'),
    })
    const form = await ask('/console/api/queues/duel', {
      method: 'PUT',
      token: 'operator',
      body: 'version=1',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    expect(form.status).toBe(415)
  })
})

function bomb(): string {
  const lines = ['a0: &a0 [1, 2, 3, 4, 5, 6, 7, 8, 9]']
  for (let level = 1; level < 20; level += 1) {
    const alias = `*a${level - 1}`
    lines.push(`a${level}: &a${level} [${Array<string>(9).fill(alias).join(', ')}]`)
  }
  return lines.join('\n')
}
