// Writes the SBOM of @muster/server (CycloneDX JSON): the packages that npm installs with it, as npm reports them, and
// those that are bundled in it. Fails if any package of this repository depends on a package with a licence that is not
// allowed.
// Usage: node sbom.mjs <folder of all tarballs> <file to write>
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { bundledIn } from './licences.mjs'

/** Licences that require only that their text is included. BSL-1.0 is the licence of Boost. */
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

/** Returns true if an SPDX expression is allowed. An expression with inner parentheses is never allowed. */
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

/** Returns the packages that npm would install with all packages of this repository, on any system. */
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
// The loop also visits the members that it adds to the set.
const reached = new Set([main])
for (const ref of reached) for (const other of edges.get(ref)) reached.add(other)
const inside = bundled.map((one) => one['bom-ref']).filter((ref) => !reached.has(ref))

/** Removes the paths of the tarballs on this machine. */
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
