// Fails if the sources or the API report of a package have changed since the base, and no changeset describes it.
// Usage: node changeset-check.mjs [base], where the base is a commit. Default: the tag of the last release. Before the
// first release, nothing is checked.
import { execFileSync } from 'node:child_process'

const git = (...args) => execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()

function lastRelease() {
  try {
    return git('describe', '--tags', '--abbrev=0', '--match', 'v[0-9]*')
  } catch {
    return undefined
  }
}

const base = process.argv[2] ?? lastRelease()
if (base === undefined) process.exit(0)

const pathsOf = (...options) =>
  git('diff', '--name-only', '--no-renames', ...options, base)
    .split('\n')
    .filter(Boolean)
const isForUsers = (path) =>
  /^(api\/|packages\/[^/]+\/src\/)/.test(path) && !/\.(test|test-d|fixture)\.tsx?$/.test(path)
// A release replaces changesets by changelogs, so a changed changelog is as good.
const tells = (path) => /^(\.changeset\/(?!README)[^/]+\.md|packages\/[^/]+\/CHANGELOG\.md)$/.test(path)

const changed = pathsOf().filter(isForUsers)
if (changed.length > 0 && !pathsOf('--diff-filter=d').some(tells)) {
  console.error(
    `No changeset since ${base} tells users of a change in ${changed.slice(0, 3).join(', ')}` +
      `${changed.length > 3 ? ` and ${changed.length - 3} more files` : ''}: write one with \`pnpm changeset\`, ` +
      'or one that names no package (`pnpm changeset --empty`) if they need not know.',
  )
  process.exit(1)
}
