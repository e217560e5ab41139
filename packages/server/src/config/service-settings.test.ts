import { settingsWith } from '@muster/core/internal'
import { defaultSettings } from '@muster/core/api'
import { expect, test } from 'vitest'
import { configJsonSchema } from './config.js'
import { readConfigText } from './read-config.js'

interface Described {
  readonly description?: string
  readonly properties?: Readonly<Record<string, Described>>
}

const schemaOf = (...path: readonly string[]) =>
  path.reduce<Described | undefined>((at, key) => at?.properties?.[key], configJsonSchema() as Described)

test('service.settings has every setting of the client, each with a description', () => {
  const all = schemaOf('service', 'settings')?.properties ?? {}
  expect(Object.keys(all).toSorted()).toEqual(Object.keys(defaultSettings).toSorted())
  const limits = schemaOf('service', 'settings', 'valueLimits')?.properties ?? {}
  expect(Object.keys(limits).toSorted()).toEqual(Object.keys(defaultSettings.valueLimits).toSorted())
  for (const { description } of [...Object.values(all), ...Object.values(limits)]) expect(description).toMatch(/\w/)
})

const configOf = async (settings: string) => {
  const text = `service: { url: https://service.example, token: { env: T }${settings} }
queues: [{ name: duel, matchSize: 2, deploy: { application: game, version: '1' } }]
`
  return (await readConfigText(text, { path: 'muster.yaml', outside: false })).config.service?.settings
}

test('omitted service settings have the defaults of the client, and given settings replace the defaults', async () => {
  expect(settingsWith(await configOf(''))).toEqual(defaultSettings)
  const limits = 'valueLimits: { port: { max: unlimited } }'
  const given = await configOf(`, settings: { createDeploymentPath: /v2/deployments, fillRequired: false, ${limits} }`)
  expect(settingsWith(given)).toEqual({
    ...defaultSettings,
    createDeploymentPath: '/v2/deployments',
    fillRequired: false,
    valueLimits: { ...defaultSettings.valueLimits, port: { min: 0, max: Infinity } },
  })
})
