import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, test } from 'vitest'
import { type } from './as-typed.js'
import { greetedBy } from './dev-typed.js'
import { installIn } from './install-in.js'
import { root } from './packed.js'

const run = promisify(execFile)
const { version } = JSON.parse(readFileSync(join(root, 'packages/server/package.json'), 'utf8')) as { version: string }
const example = readFileSync(join(root, 'examples/quickstart.ts'), 'utf8')

const into = mkdtempSync(join(tmpdir(), 'muster-release-'))
afterAll(() => rmSync(into, { recursive: true }))
const openFolder = () => mkdtempSync(join(into, 'project-'))

// program.test.ts covers the Node.js version that runs this test.
describe.each(['22', '24', '26'])('a release on Node.js %s', (major) => {
  test(
    'a release can be installed, prints its version, matches two players and becomes ready',
    { timeout: 300_000 },
    async () => {
      const found = await run('npx', ['-y', '-p', `node@${major}`, '-c', 'command -v node'])
      const env = { ...process.env, PATH: `${dirname(found.stdout.trim())}${delimiter}${process.env['PATH']}` }
      const folder = openFolder()
      const typed = async (command: string, ...args: readonly string[]) =>
        (await run(command, args, { cwd: folder, env, timeout: 60_000 })).stdout
      expect(await typed('node', '--version')).toMatch(new RegExp(`^v${major}\\.`))
      await installIn(folder, ['@muster/core', '@muster/matchmaker', '@muster/emulator', '@muster/server'], env)
      expect(await typed('npx', 'muster', '--version')).toBe(`${version}\n`)

      writeFileSync(join(folder, 'quickstart.mjs'), example.slice(example.indexOf('import ')))
      expect(await typed('node', 'quickstart.mjs')).toMatch(/^HOST_ASSIGNED \S+:\d+$/m)

      const command = type('npx muster dev --port 0 --emulator-port 0', folder, { PATH: env.PATH })
      try {
        const { urls } = await greetedBy(command)
        await expect.poll(async () => (await fetch(`${urls.api}/readyz`)).status).toBe(200)
        command.interrupt()
        await command.ended
      } finally {
        command.kill()
      }
    },
  )
})

/** What each package of the first is for is in packages/matchmaker/README.md. */
test.each([
  { args: '@muster/core @muster/matchmaker --omit=optional', packages: 14, megabytes: 21 },
  { args: '@muster/server', packages: 40, megabytes: 40 },
])('npm i $args installs at most $packages packages of $megabytes MB', async ({ args, packages, megabytes }) => {
  const folder = openFolder()
  await installIn(folder, args.split(' '))
  const modules = join(folder, 'node_modules')
  const files = readdirSync(modules, { recursive: true, encoding: 'utf8' })
  // A package may contain further manifests, of its parts.
  const manifests = files.filter((file) => /(^|node_modules\/)(@[^/]+\/)?[^/@]+\/package\.json$/.test(file))
  expect(manifests.length).toBeGreaterThan(5)
  expect(manifests.length, manifests.join('\n')).toBeLessThanOrEqual(packages)
  const bytes = files.map((file) => statSync(join(modules, file))).filter((stats) => stats.isFile())
  expect(bytes.reduce((sum, { size }) => sum + size, 0) / 1e6).toBeLessThan(megabytes)
})
