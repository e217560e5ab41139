import { accessSync, constants, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = join(root, '.github/workflows')
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly packageManager: string
  readonly scripts: Readonly<Record<string, string>>
}
const [, pnpm = ''] = /^pnpm@([\d.]+)/.exec(manifest.packageManager) ?? []

interface Step {
  readonly uses?: string
  readonly run?: string
  readonly with?: Readonly<Record<string, unknown>>
}
interface Job {
  readonly environment?: string
  readonly permissions?: Readonly<Record<string, string>>
  readonly strategy?: { readonly matrix: { readonly node: readonly number[] } }
  readonly needs?: string
  readonly 'timeout-minutes'?: number
  readonly steps: readonly Step[]
}
interface Workflow {
  readonly on: Readonly<Record<string, unknown>>
  readonly permissions: Readonly<Record<string, string>>
  readonly jobs: Readonly<Record<string, Job>>
}

const texts = new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]))
const workflowOf = (name: string) => parse(texts.get(name) ?? '') as Workflow
const commandsOf = ({ steps }: Job) => steps.flatMap(({ run }) => run ?? [])
const nodesOf = ({ steps }: Job) => steps.flatMap((step) => step.with?.['node-version'] ?? [])

describe.each([...texts.keys()])('the GitHub workflow %s', (name) => {
  const { permissions, jobs } = workflowOf(name)
  const steps = Object.values(jobs).flatMap((job) => job.steps)

  test('a GitHub workflow has read-only permissions, except for the one job that publishes', () => {
    expect(permissions).toEqual({ contents: 'read' })
    const further = Object.entries(jobs).filter(([, job]) => job.permissions !== undefined)
    expect(further.map(([job]) => `${name} ${job}`)).toEqual(name === 'release.yml' ? ['release.yml publish'] : [])
  })

  test('a GitHub workflow contains no secret, and passes none to what it runs', () => {
    expect(texts.get(name)).not.toMatch(/secrets\.|_TOKEN|_authToken/i)
    const checkouts = steps.filter(({ uses }) => uses?.startsWith('actions/checkout@'))
    expect(checkouts.map((step) => step.with?.['persist-credentials'])).toEqual(checkouts.map(() => false))
  })

  test('a GitHub workflow pins GitHub’s own actions by commit hash with the version, and has timeouts', () => {
    for (const line of (texts.get(name) ?? '').split('\n').filter((one) => one.includes('uses:')))
      expect(line).toMatch(/^ +- uses: actions\/[\w-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/)
    for (const job of Object.values(jobs)) expect(job['timeout-minutes']).toBeLessThanOrEqual(60)
  })

  test('a GitHub workflow runs only existing scripts, with the pnpm version of package.json', () => {
    const commands = steps.flatMap(({ run }) => run?.split('\n') ?? [])
    for (const [, version, script = ''] of commands.join('\n').matchAll(/pnpm@(\S+) (\S+)/g))
      expect([version, manifest.scripts[script]], script).toEqual([pnpm, expect.any(String)])
    for (const [path] of commands.join('\n').matchAll(/\.ci\/run|scripts\/[\w-]+\.mjs/g))
      accessSync(join(root, path), path.startsWith('.ci') ? constants.X_OK : constants.R_OK)
    expect(commands.join('\n')).toMatch(/\.ci\/run/)
  })
})

describe('third-party images', () => {
  const paths = ['deploy/container', 'packages/create-muster/template'].flatMap((at) =>
    ['Dockerfile', 'compose.yaml'].map((file) => `${at}/${file}`),
  )
  /** Returns the images that Docker downloads. Stages and images that are built here are left out. */
  const imagesOf = (path: string) => {
    const text = readFileSync(join(root, path), 'utf8')
    return Array.from(text.matchAll(/^(?:FROM| +image:) (\S+)/gm), ([, image = '']) => image).filter(
      (image) => image !== 'muster' && image !== 'base',
    )
  }

  test.each(paths)('third-party images are pinned by digest in %s', (path) => {
    const images = imagesOf(path)
    expect(images.length).toBeGreaterThan(0)
    for (const image of images) expect(image).toMatch(/^[\w./-]+:\d+\.\d+\.\d+[\w-]*@sha256:[\da-f]{64}$/)
  })

  test('dependabot updates third-party images and actions', () => {
    const { updates } = parse(readFileSync(join(root, '.github/dependabot.yml'), 'utf8')) as {
      readonly updates: readonly { 'package-ecosystem': string; directory?: string; directories?: string[] }[]
    }
    const folders = ['/deploy/container', '/packages/create-muster/template']
    const kept = updates.map((one) => [one['package-ecosystem'], one.directories ?? [one.directory]])
    expect(Object.fromEntries(kept)).toMatchObject({
      'github-actions': ['/'],
      docker: folders,
      'docker-compose': folders,
    })
  })
})

test('CI runs all checks on the oldest Node.js, and the tests on the newer versions', () => {
  const { on, jobs } = workflowOf('ci.yml')
  expect(Object.keys(on)).toEqual(['push', 'pull_request'])
  expect(jobs['check'] && nodesOf(jobs['check'])).toEqual([20])
  expect(jobs['test']?.strategy?.matrix.node).toEqual([22, 24, 26])
  expect(readFileSync(join(root, '.ci/run'), 'utf8')).toContain(`pnpm@${pnpm}`)
})

describe('the release workflow', () => {
  const { on, jobs } = workflowOf('release.yml')
  const { check, publish } = jobs as Readonly<Record<'check' | 'publish', Job>>

  test('the release workflow publishes after all checks, with a manual approval', () => {
    expect(on).toEqual({ push: { tags: ['v*'] } })
    expect(commandsOf(check)).toContain('.ci/run')
    expect(publish.needs).toBe('check')
    expect(publish.environment).toBe('npm')
    expect(publish.permissions).toEqual({ contents: 'read', 'id-token': 'write' })
  })

  test('the release workflow publishes only by trusted publishing, without a token', () => {
    const [npm = '', node = '', ...others] = commandsOf(publish)
    const [, minor = 0] = (/^npm install --global npm@11\.(\d+)\.\d+$/.exec(npm) ?? []).map(Number)
    expect(minor).toBeGreaterThan(5)
    expect(node).toBe('node scripts/publish.mjs tarballs --provenance')
    expect(others).toEqual([])
    expect(nodesOf(publish)).toEqual([24])
  })
})
