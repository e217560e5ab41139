// Fails if a commit since the base has an unclear message: a subject of more than 72 characters, or a line right below
// it. A change of more than 500 lines also needs a body.
// Usage: node commit-check.mjs [base], where the base is a commit. Default: the last commit before this rule. A clone
// without the base, e.g. a shallow one, checks only its latest commit.
import { execFileSync } from 'node:child_process'

const RULE_SINCE = 'c17c0df3fc30c0558407500feb8fb8447f4c29ce'
const LONGEST_SUBJECT = 72
const MOST_LINES_WITHOUT_BODY = 500

const git = (...args) => execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

function succeeds(...args) {
  try {
    git(...args)
    return true
  } catch {
    return false
  }
}

if (!succeeds('rev-parse', 'HEAD')) {
  console.log('Not a clone with commits: no commit message is checked.')
  process.exit(0)
}

const base = process.argv[2] ?? RULE_SINCE
const hasBase = succeeds('merge-base', '--is-ancestor', base, 'HEAD')
if (!hasBase) console.log(`This clone does not have ${base}: only the latest commit is checked.`)
const range = hasBase ? [`${base}..HEAD`] : ['-1', 'HEAD']

const records = git('log', '--no-merges', '--numstat', '--format=%x00%h%x00%B%x00', ...range)
  .split('\0')
  .slice(1)
const faults = []
for (let at = 0; at < records.length; at += 3) {
  const [hash, message, stat] = records.slice(at, at + 3)
  const [subject, below = '', ...body] = message.trimEnd().split('\n')
  const lines = Array.from(stat.matchAll(/^(\d+)\t(\d+)\t/gm)).reduce((sum, [, plus, minus]) => sum + +plus + +minus, 0)
  const say = (fault) => faults.push(`${hash} ${subject}\n  ${fault}`)
  if (subject.length > LONGEST_SUBJECT) say(`The subject has ${subject.length} characters; at most ${LONGEST_SUBJECT}.`)
  if (below !== '') say('The line below the subject is not empty.')
  // A shallow clone lacks the parent of its oldest commit, so all files of that commit would count as new.
  if (hasBase && lines > MOST_LINES_WITHOUT_BODY && body.length === 0)
    say(`It changes ${lines} lines, and no body below the subject says why.`)
}
if (faults.length > 0) {
  console.error(faults.join('\n'))
  process.exit(1)
}
