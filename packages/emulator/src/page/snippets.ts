// pure: example code to copy while there is nothing to show
import { html, type Html } from './html.js'
import type { PageState } from './page-state.js'

type Connect = PageState['connect']

const code = (lines: readonly string[]): Html =>
  html`<pre class="code" tabindex="0"><code>${lines.join('\n')}</code></pre>`

const text = (value: string) => `'${value.replaceAll(/[\\']/g, String.raw`\$&`)}'`

const clientOf = ({ baseUrl, token }: Connect): readonly string[] => {
  const tokenCode = token === null ? 'process.env.API_TOKEN' : text(token)
  return [
    "import { createClient } from '@muster/core'",
    '',
    `const client = createClient({ baseUrl: ${text(baseUrl)}, token: ${tokenCode} })`,
  ]
}

export const connectSnippet = (connect: Connect): Html =>
  code([
    ...clientOf(connect),
    "await client.applications.create({ name: 'my-game' })",
    'await client.versions.create({',
    "  app_name: 'my-game',",
    "  name: '1.0',",
    "  docker_repository: 'registry.example.com',",
    "  docker_image: 'studio/server',",
    "  docker_tag: '1.0',",
    '  req_cpu: 512,',
    '  req_memory: 1024,',
    "  ports: [{ name: 'game', port: 7777, protocol: 'UDP' }],",
    '})',
  ])

export const deploySnippet = (
  connect: Connect,
  { application, version }: { readonly application: string; readonly version: string },
): Html =>
  code([
    ...clientOf(connect),
    'const { request_id } = await client.deployments.create({',
    `  application: ${text(application)},`,
    `  version: ${text(version)},`,
    "  users: [{ user_type: 'geo_coordinates', user_data: { latitude: 52.5, longitude: 13.4 } }],",
    '})',
  ])
