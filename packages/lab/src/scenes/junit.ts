// pure: results as JUnit XML, which CI systems display
import type { SceneResult } from './run-scenes.js'

/** The result of a scene, or the reason why it was skipped. */
interface CaseResult extends SceneResult {
  readonly skipped?: string | undefined
}

/** The results of one file. */
export interface SceneSuite {
  /** The file name as given. */
  readonly file: string
  readonly results: readonly CaseResult[]
  /** Returns the line of a path in the file. */
  readonly lineOf: (path: readonly string[]) => number | undefined
  /** Why the file could not be used; undefined if it has results. */
  readonly wrong?: string | undefined
}

/**
 * Returns results as JUnit XML, with a suite for each file and a case for each scene. The XML is well-formed for any
 * names.
 * @param name name of all suites together.
 */
export function junitXml(suites: readonly SceneSuite[], name = 'muster lab test'): string {
  const all = suites.map(countsOf)
  const sum = (key: keyof Counts) => all.reduce((total, counts) => total + counts[key], 0)
  const inner = suites.map(suiteXml).join('')
  const head = attributes({ name, tests: sum('tests'), failures: sum('failures'), errors: sum('errors') })
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites${head}>\n${inner}</testsuites>\n`
}

interface Counts {
  readonly tests: number
  readonly failures: number
  readonly errors: number
}

const countsOf = ({ results, wrong }: SceneSuite): Counts => ({
  tests: wrong === undefined ? results.length : 1,
  failures: results.filter(({ failures }) => failures.length > 0).length,
  errors: wrong === undefined ? 0 : 1,
})

function suiteXml(suite: SceneSuite): string {
  const { file, results, wrong } = suite
  const cases =
    wrong === undefined
      ? results.map((result) => caseXml(result, suite))
      : [`    <testcase${attributes({ name: file, classname: file, file })}>${wrongXml(wrong)}</testcase>\n`]
  return `  <testsuite${attributes({ name: file, ...countsOf(suite) })}>\n${cases.join('')}  </testsuite>\n`
}

const wrongXml = (wrong: string) =>
  `<error${attributes({ message: 'the file cannot be used' })}>${escaped(wrong)}</error>`

function caseXml({ name, path, failures, skipped }: CaseResult, { file, lineOf }: SceneSuite): string {
  const line = lineOf(path)
  const head = `    <testcase${attributes({ name, classname: file, file, ...(line !== undefined && { line }) })}`
  if (skipped !== undefined) return `${head}><skipped${attributes({ message: skipped })}/></testcase>\n`
  if (failures.length === 0) return `${head}/>\n`
  const texts = failures.map((one) => {
    const place = `${file}:${lineOf(one.path) ?? ''}`
    const text = escaped(`${place}\n${one.expected}\n${one.instead}`)
    return `      <failure${attributes({ message: one.expected })}>${text}</failure>\n`
  })
  return `${head}>\n${texts.join('')}    </testcase>\n`
}

const attributes = (values: Readonly<Record<string, string | number>>) =>
  Object.entries(values)
    .map(([name, value]) => ` ${name}="${escaped(String(value))}"`)
    .join('')

/** Characters that XML 1.0 cannot represent: control characters, unpaired surrogates, and two noncharacters. */
// oxlint-disable-next-line no-control-regex
const UNWRITABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
}

/**
 * Escapes a string for attributes and elements. Characters that XML cannot represent become the replacement character.
 */
const escaped = (text: string) =>
  text.replace(UNWRITABLE, '\u{fffd}').replace(/[&<>"'\t\n\r]/g, (character) => ESCAPES[character] ?? '')
