// Writes what @muster/server consists of (SBOM, CycloneDX JSON): what npm installs with it, by npm itself, and what is
// bundled in it. Refuses a licence that is not allowed, of any package that one of ours brings along.
// Usage: node sbom.mjs <folder of all tarballs> <file to write>
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { bundledIn } from './licences.mjs'

/** Licences that ask for no more than their text. BSL-1.0 is that of Boost. */
const ALLOWED = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BSL-1.0',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  'Python-2.0',
  'Unlicense',
])

/** Whether an SPDX expression is allowed. One with inner parentheses never is. */
const isAllowed = (expression) =>
  expression
    .replace(/^\((.*)\)$/, '$1')
    .split(' OR ')
    .some((choice) => choice.split(' AND ').every((id) => ALLOWED.has(id)))

const [given, file] = process.argv.slice(2)
const folder = resolve(given)
const tarballs = readdirSync(folder).flatMap((name) => (name.endsWith('.tgz') ? [join(folder, name)] : []))
const program = tarballs.find((path) => /muster-server-\d[^/\\]*\.tgz$/.test(path))
if (program === undefined) throw new Error(`${folder} has no tarball of @muster/server`)

const options = { encoding: 'utf8', maxBuffer: 2 ** 26 }

/** What npm would install with all packages, on every system. */
function installed() {
  const cwd = mkdtempSync(join(tmpdir(), 'muster-sbom-'))
  const npm = (...args) => execFileSync('npm', [...args, '--package-lock-only'], { ...options, cwd })
  try {
    writeFileSync(join(cwd, 'package.json'), JSON.stringify({ name: 'all', version: '0.0.0', private: true }))
    npm('install', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', ...tarballs)
    return JSON.parse(npm('sbom', '--sbom-format', 'cyclonedx'))
  } finally {
    rmSync(cwd, { recursive: true })
  }
}

const textOf = (path) => execFileSync('tar', ['-xOzf', program, `package/${path}`], options)
const bundled = ['dist/licences.txt', 'dist/pages/licences.txt']
  .flatMap((path) => bundledIn(textOf(path)))
  .map(({ name, version, license }) => ({
    'bom-ref': `${name}@${version}`,
    type: 'library',
    name,
    version,
    scope: 'required',
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    licenses: [license.includes(' ') ? { expression: license } : { license: { id: license } }],
  }))

const all = installed()
const components = new Map([...bundled, ...all.components].map((one) => [one['bom-ref'], one]))
const refused = [...components.values()].filter(
  ({ licenses = [] }) =>
    licenses.length === 0 || !licenses.every((one) => isAllowed(one.expression ?? one.license.id ?? one.license.name)),
)
if (refused.length > 0) {
  for (const one of refused) console.error(`${one['bom-ref']} has a licence that is not allowed:`, one.licenses)
  process.exit(1)
}

const edges = new Map(all.dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]))
const { 'bom-ref': main } = all.components.find(({ name }) => name === '@muster/server')
// A set is visited with what is added meanwhile.
const reached = new Set([main])
for (const ref of reached) for (const other of edges.get(ref)) reached.add(other)
const inside = bundled.map((one) => one['bom-ref']).filter((ref) => !reached.has(ref))

/** Where the tarballs are on this machine is nothing to tell. */
const published = (one) => ({
  ...one,
  externalReferences: (one.externalReferences ?? []).filter(({ url }) => !url.startsWith('file:')),
})
const [component, ...others] = [...reached, ...inside].map((ref) => published(components.get(ref)))
const result = {
  ...all,
  metadata: { ...all.metadata, component: { ...component, type: 'application' } },
  components: others,
  dependencies: [
    ...Array.from(reached, (ref) => ({ ref, dependsOn: [...edges.get(ref), ...(ref === main ? inside : [])] })),
    ...inside.map((ref) => ({ ref, dependsOn: [] })),
  ],
}
writeFileSync(file, `${JSON.stringify(result, null, 2)}\n`)
console.log(`${file}: ${others.length} components`)
