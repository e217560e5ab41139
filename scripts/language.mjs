// Measures the language of the repository, and prints a sample of each kind of text. A report, not a check.
// Usage: node language.mjs [seed] [size] [kind]: the sample is the same for the same seed. Default: 1, 8, all kinds.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

const [seed = '1', size = '8', only] = process.argv.slice(2)
const git = (...args) => execFileSync('git', args, { encoding: 'utf8', maxBuffer: 2 ** 27 })
const files = git('ls-files')
  .split('\n')
  .filter((path) => !/(^|\/)(fixtures|kept|node_modules)\//.test(path))
const filesLike = (pattern, not = /^$/) => files.filter((path) => pattern.test(path) && !not.test(path))
const texts = (paths, take) =>
  paths.flatMap((path) =>
    take(readFileSync(path, 'utf8')).map((text) => ({ text: text.replace(/\s+/g, ' ').trim(), path })),
  )
const groups = (text, pattern) => Array.from(text.matchAll(pattern), ([, found = '']) => found)

/** Returns the comments that begin a line. A tag such as `@param` begins a separate text. */
const comments = (text) =>
  groups(text, /((?:^[ \t]*\/\/.*\n)+|^[ \t]*\/\*[^]*?\*\/)/gm).flatMap((comment) =>
    comment
      .replace(/^[ \t]*(\/\/|\/\*\*?|\*\/|\*)|\*\/$/gm, '')
      .split(/\n\s*\n|@(?:param|throws|example)\b/)
      .filter((part) => /^[^─▶┬{}]*[a-z]{2} [^─▶┬{}]*$/.test(part)),
  )
/** Returns paragraphs, list entries and table cells, without code. */
const paragraphs = (text) =>
  text
    .replace(/^(```|~~~)[^]*?^\1/gm, '')
    .split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )|\s\|\s|^\||\|$/m)
    .map((part) => part.replace(/^\s*([-*>|#]|\d+\.)+ /, '').replace(/\]\([^)]*\)/g, ']'))
    .filter((part) => /[a-z]{2} .*[a-z]{2}/s.test(part))
const QUOTED = String.raw`(?:'((?:[^'\\\n]|\\.)+)'|"((?:[^"\\\n]|\\.)+)"|${'`'}((?:[^${'`'}\\]|\\.)+)${'`'})`
const quoted = (before, text) =>
  Array.from(text.matchAll(new RegExp(before + QUOTED, 'g')), ([, a, b, c]) => (a ?? b ?? c).replace(/\\(.)/g, '$1'))

const sources = filesLike(
  /^(packages|examples)\/.*\.(ts|tsx)$/,
  /\.(test|test-d|fixture)\.tsx?$|^packages\/create-muster/,
)
const kinds = {
  comments: texts(sources, comments),
  docs: texts(filesLike(/^(docs\/[^/]+|packages\/[^/]+\/README|README|CONTRIBUTING)\.md$/), paragraphs),
  decisions: texts(filesLike(/^docs\/decisions\/.+\.md$/), paragraphs),
  'test titles': texts(filesLike(/\.test\.tsx?$/), (text) =>
    quoted(String.raw`\b(?:test|it)(?:\.\w+\([^]*?\))?\((?:\s*)`, text).filter((title) => title.includes(' ')),
  ),
  errors: texts(sources, (text) =>
    quoted(String.raw`(?:throw new \w+\(|new \w*(?:Error|Invalid\w*)\(|\bmessage: )\s*`, text).filter((one) =>
      one.includes(' '),
    ),
  ),
  'commit subjects': git('log', '-200', '--no-merges', '--format=%s')
    .split('\n')
    .filter(Boolean)
    .map((text) => ({ text, path: 'git log' })),
}

/** Patterns of words with a meaning private to this project, or used in place of the field's word. */
const PRIVATE = {
  told: /\b(is|are|was|were|be|been|being) told\b/gi,
  whoever: /\bwh(oever|omever)\b/gi,
  'house, room, door, floor': /\b(houses?|one room|rooms of|doors?|floors?)\b/gi,
  'gives way': /\bg(ive|ives|ave|iven) way\b/gi,
  'goes on': /\bgo(es)? on\b/gi,
  'comes to, is had': /\b(comes? to (?=\d|the same)|is had|are had|to be had)\b/gi,
  'what is left': /\bwhat is left\b/gi,
  'so many, as it is, all of it, a while': /\b(so many|as it is|all of it|a while)\b/gi,
  'of ours, of its own': /\bof (ours|theirs|its own|their own)\b/gi,
  'is no': /\b(is|are|was|were) no (?!longer|more)\w+/gi,
  'asks for, is asked': /\b(is|are) asked\b/gi,
}
/**
 * Matches a sentence whose subject comes after the verb, or is a clause. Questions are excluded. Conditions (If, When,
 * Where) may come first.
 */
const LATE = /^(What|Who|Whom|Whose|Whoever|Of|By|Beside|Beneath|Nor|Neither|Thereby)\b(?=.*[.:;]$)/
const LONG = 25
const sentencesOf = (text) => text.split(/(?<=[.!?:;])\s+(?=[A-Z`'"(*])/).filter((one) => one.includes(' '))
const wordsIn = (text) => text.split(/\s+/).filter((word) => /[a-z]/i.test(word)).length
const countOf = (text, pattern) => text.match(pattern)?.length ?? 0
const share = (part, whole) => `${((100 * part) / Math.max(1, whole)).toFixed(1)} %`

const rows = Object.entries(kinds).map(([kind, all]) => {
  const words = all.reduce((sum, { text }) => sum + wordsIn(text), 0)
  const sentences = all.flatMap(({ text }) => sentencesOf(text))
  const rate = (count) => Number(((10_000 * count) / Math.max(1, words)).toFixed(1))
  const privately = Object.entries(PRIVATE).map(([name, pattern]) => [
    name,
    rate(all.reduce((sum, { text }) => sum + countOf(text, pattern), 0)),
  ])
  return {
    kind,
    all,
    figures: {
      texts: all.length,
      words,
      'over 25 words': share(sentences.filter((one) => wordsIn(one) > LONG).length, sentences.length),
      'subject late': share(sentences.filter((one) => LATE.test(one)).length, sentences.length),
      ...(kind === 'commit subjects' ? { 'over 72': all.filter(({ text }) => text.length > 72).length } : {}),
    },
    privately: Object.fromEntries(privately),
  }
})
console.table(Object.fromEntries(rows.map(({ kind, figures }) => [kind, figures])))
console.log('\nPrivate words per 10,000 words:')
const names = Object.keys(PRIVATE)
console.table(
  Object.fromEntries(
    names.map((name) => [name, Object.fromEntries(rows.map((row) => [row.kind, row.privately[name]]))]),
  ),
)

/** Returns a function that draws numbers below 1 by mulberry32. The numbers are the same for the same seed. */
function randomOf(start) {
  let state = start >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
for (const { kind, all } of rows) {
  if (only !== undefined && kind !== only) continue
  console.log(`\n${kind}, sample of seed ${seed}:`)
  const random = randomOf(Number(seed))
  for (let left = Math.min(Number(size), all.length); left > 0; left--) {
    const { text, path } = all[Math.floor(random() * all.length)]
    const marks = Object.entries(PRIVATE).flatMap(([name, pattern]) => (countOf(text, pattern) > 0 ? [name] : []))
    if (sentencesOf(text).some((one) => wordsIn(one) > LONG)) marks.push('over 25 words')
    if (sentencesOf(text).some((one) => LATE.test(one))) marks.push('subject late')
    console.log(`- ${text}\n    ${path}${marks.length > 0 ? ` [${marks.join('; ')}]` : ''}`)
  }
}
