import { expect, test } from 'vitest'
import { readConfigText } from '../../config/read-config.js'
import { changesOf } from './reload.js'

const yaml = `
service: { url: https://service.example.com, token: { env: TOKEN } }
listen: { port: 8080 }
queues:
  - name: duel
    matchSize: 2
    rules: [{ kind: difference, attribute: skill, max: 100 }]
    deploy: { application: my-game, version: '1.0', environment: { SEED: hush-hush } }
  - { name: solo, matchSize: 1, deploy: { application: my-game, version: '1.0' } }
auth: { keys: [{ name: one, role: backend, key: { env: KEY } }] }
`
const env = { TOKEN: 'token-of-the-service', KEY: 'key-of-the-backend', OTHER: 'another-key-of-it' }
const read = async (text: string) => (await readConfigText(text, { path: 'muster.yaml', env })).config

const changes = async (edit: (text: string) => string) =>
  changesOf(await read(yaml), await read(edit(yaml))).map(({ field, text, isLive }) => [field, text, isLive])

test.each<[string, (text: string) => string, unknown[]]>([
  ['no setting', (text) => `${text}# a comment\n`, []],
  [
    'a rule',
    (text) => text.replace('max: 100', 'max: 250'),
    [['queues.duel.rules.difference skill.max', '100 → 250', true]],
  ],
  ['a secret', (text) => text.replace('env: KEY', 'env: OTHER'), [['auth.keys.one.key', 'changed', true]]],
  [
    'server variables',
    (text) => text.replace('hush-hush', 'hush'),
    [['queues.duel.deploy.environment', 'changed', true]],
  ],
  ['the port', (text) => text.replace('8080', '8081'), [['listen.port', '8080 → 8081', false]]],
  ['the store', (text) => `${text}store: { folder: data }\n`, [['store.kind', '"memory" → "folder"', false]]],
  [
    'a console host',
    (text) => `${text}console: { hosts: [ops.example.com] }\n`,
    [['console.hosts.0', 'nothing → "ops.example.com"', false]],
  ],
])('a change of the configuration is described: %s', async (_, edit, expected) => {
  const found = await changes(edit)
  expect(found.slice(0, Math.max(1, expected.length))).toEqual(expected)
})

test('the description of configuration changes shows no server variables, for any name of a queue', async () => {
  const named = (text: string) => text.replace('name: duel', 'name: a.b.deploy')
  const before = await read(named(yaml))
  const found = changesOf(before, await read(named(yaml).replace('hush-hush', 'other')))
  expect(found.map(({ text }) => text)).toEqual(['changed'])
})

test('the description of configuration changes shows no payload of a probe, as the console does not', async () => {
  const probed = (payload: string) => (text: string) =>
    text.replace('environment: {', `probe: { kind: udp, port: game, payload: ${payload} }, environment: {`)
  const found = changesOf(await read(probed('hush-hush')(yaml)), await read(probed('other')(yaml)))
  expect(found).toEqual([{ field: 'queues.duel.deploy.probe.payload', text: 'changed', isLive: true }])
})

test('configuration changes compare queues by name, not by order', async () => {
  const first = "queues:\n  - { name: first, matchSize: 3, deploy: { application: my-game, version: '1.0' } }"
  expect(await changes((text) => text.replace('queues:', first))).toEqual([['queues.first', 'nothing → given', true]])
  expect(await changes((text) => text.replace(/ {2}- \{ name: solo.*\n/, ''))).toEqual([
    ['queues.solo', 'given → nothing', true],
  ])
})
