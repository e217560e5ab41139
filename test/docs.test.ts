import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const documents = [
  'README.md',
  ...readdirSync(join(root, 'docs')).flatMap((name) => (name.endsWith('.md') ? `docs/${name}` : [])),
  ...readdirSync(join(root, 'packages')).map((name) => `packages/${name}/README.md`),
]

/** Declarations of the values that code in documents uses without declaring them. */
const GIVEN = `
import type { Client } from '@muster/core'
import type { Locate, Matchmaker, QueueDefinition, Ticket, TicketCaller } from '@muster/matchmaker'
import type { RedisConnection } from '@muster/redis'
import type { HandedOver, Lobbies, LobbyCaller } from '@muster/relay'

declare global {
  const client: Client
  const deployments: Client['deployments']
  const locate: Locate
  const duel: QueueDefinition
  const queues: readonly QueueDefinition[]
  const matchmaker: Matchmaker
  const lobbies: Lobbies
  const redis: RedisConnection

  const baseUrl: string
  const token: string
  const userToken: number
  const sessionToken: number
  const relay: { readonly ip: string; readonly ports: { readonly client: { readonly port: number } } }
  const key: string
  const secrets: { read(name: string): Promise<string> }
  const sessions: { find(token: string | undefined): Promise<TicketCaller | undefined> }
  const log: { warn(fields: object): void }
  function tell(tickets: readonly Ticket[], link: string | undefined): void
  function yourTicketFor(key: string, players: HandedOver['players'], data: HandedOver['data']): Promise<string>
  function yourCancel(reference: string): Promise<void>
  function yourTicketCaller(request: Request): Promise<TicketCaller | undefined>
  function yourLobbyCaller(request: Request): Promise<LobbyCaller | undefined>
  function yourPlayerOf(token: string | undefined): Promise<LobbyCaller | undefined>
}
`
const options = {
  noEmit: true,
  composite: false,
  // Check against the packages' declarations, as readers do. Checking their sources would take ten times as long.
  customConditions: [],
  // Check the declarations themselves, as the compiler does unless a project sets skipLibCheck.
  skipLibCheck: false,
  // Code in documents need not use everything that it declares.
  noUnusedLocals: false,
  noPropertyAccessFromIndexSignature: false,
  typeRoots: [join(root, 'node_modules/@types')],
}

/** Returns every TypeScript block as a module. Its lines keep their numbers in the document. */
function modulesOf(document: string, text: string): [name: string, code: string][] {
  const name = document.replace(/\W/g, '-')
  return Array.from(text.matchAll(/^```ts\n([\s\S]*?)^```/gm), ({ 1: code = '', index }) => {
    const line = text.slice(0, index).split('\n').length
    return [`${name}-${line}.mts`, `${'\n'.repeat(line)}${code}export {}\n`]
  })
}

/** A line of the compiler about a document's module, or about a declaration of our packages. */
const OURS = /^[\w-]+\.mts\(|^(?!.*node_modules).*packages\/[\w-]+\/dist\/.*\.d\.ts\(/

/** Returns the compiler's errors in these modules and in our declarations, not those in other packages. */
async function complaintsAbout(modules: readonly (readonly [name: string, code: string])[]): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'muster-docs-'))
  try {
    // Link the packages, so that the modules find them like a test does.
    symlinkSync(join(root, 'test/node_modules'), join(folder, 'node_modules'), 'junction')
    for (const [name, code] of modules) writeFileSync(join(folder, name), code)
    writeFileSync(join(folder, 'given.mts'), GIVEN)
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ extends: join(root, 'tsconfig.base.json'), compilerOptions: options, include: ['*.mts'] }),
    )
    const compiler = join(root, 'node_modules/typescript/bin/tsc')
    const output = await new Promise<string>((resolve) => {
      execFile(process.execPath, [compiler, '-p', folder, '--pretty', 'false'], { cwd: folder }, (_, stdout) =>
        resolve(stdout),
      )
    })
    return output.split('\n').filter((line) => OURS.test(line))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test('the code in the documents and the declarations that it imports compile', async () => {
  const modules = documents.flatMap((document) => modulesOf(document, readFileSync(join(root, document), 'utf8')))
  expect(modules.length).toBeGreaterThan(10)
  // A module with an error, to prove that the compiler reads the modules.
  const wrong = modulesOf(
    'wrong.md',
    "First\n```ts\nimport { createClient } from '@muster/core'\ncreateClient(1)\n```\n",
  )
  const complaints = await complaintsAbout([...modules, ...wrong])
  expect(complaints).toEqual([expect.stringMatching(/^wrong-md-2\.mts\(4,14\): error TS2345/)])
})
