// Publishes the tarballs of a folder, as `pnpm tarballs` creates them, to the registry that npm is configured for.
// Versions that the registry already has are skipped, so an interrupted release can be continued.
// Usage: node publish.mjs <folder> [option of npm publish ...]
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { resolve } from 'node:path'

const [folder = 'tarballs', ...options] = process.argv.slice(2)
const npm = (...args) => execFileSync('npm', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
const registry = npm('config', 'get', 'registry').trim().replace(/\/?$/, '/')

/** The manifest of each tarball, by the package's name. */
const packages = new Map()
for (const file of readdirSync(folder).filter((name) => name.endsWith('.tgz'))) {
  const tarball = resolve(folder, file)
  const manifest = JSON.parse(execFileSync('tar', ['-xzOf', tarball, 'package/package.json'], { encoding: 'utf8' }))
  packages.set(manifest.name, { tarball, ...manifest })
}

async function isPublished({ name, version }) {
  const answer = await fetch(registry + name.replace('/', '%2f'))
  if (answer.status === 404) return false
  if (!answer.ok) throw new Error(`${registry} answers ${answer.status} about ${name}`)
  return Object.hasOwn((await answer.json()).versions ?? {}, version)
}

// All packages are looked up before the first one is published, because publishing may take minutes and a connection
// would not last that long.
const published = new Set()
for (const one of packages.values()) if (await isPublished(one)) published.add(one.name)

const done = new Set()
/** Publishes a package after the packages that it depends on, so that users can install it at once. */
function publish(one) {
  if (done.has(one.name)) return
  done.add(one.name)
  for (const name of Object.keys(one.dependencies ?? {})) if (packages.has(name)) publish(packages.get(name))
  if (published.has(one.name)) console.log(`${one.name}@${one.version} is published already`)
  else console.log(npm('publish', one.tarball, ...options).trim())
}
for (const one of packages.values()) publish(one)
