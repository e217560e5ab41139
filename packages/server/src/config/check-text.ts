import { validateAll } from '@muster/core/validation'
import type { Queue } from '@muster/matchmaker'
import { checkQueues } from './check-queues.js'
import { contradictionsIn } from './contradictions.js'
import type { Finding } from './finding.js'
import { createFindings, type Findings } from './findings.js'
import { fileSchema, type ConfigFile } from './schema/file.js'
import { warningsAbout } from './warnings.js'
import { readYaml, type Source } from './yaml-source.js'

/** The file as its schema gives it, and its queues as the matchmaker does. */
export interface CheckedFile {
  readonly file: ConfigFile
  readonly queues: readonly Queue[]
}

export interface CheckedText {
  /** Undefined if there are errors. */
  readonly checked: CheckedFile | undefined
  /** In the order of the text. */
  readonly findings: readonly Finding[]
  /** Makes a finding of what is found later, e.g. that a variable is not set. */
  locate(path: readonly string[], message: string, severity: Finding['severity']): Finding
}

/** Checks the text of a configuration, without looking at anything outside of it. */
export function checkText(text: string): CheckedText {
  const source = readYaml(text)
  const findings = createFindings(source)
  const checked = source.faults.length === 0 ? checkValue(source, findings) : undefined
  return { checked, findings: findings.sorted(), locate: findings.locate }
}

function checkValue({ value, document }: Source, findings: Findings): CheckedFile | undefined {
  if (document.contents === null || value === null) {
    findings.of([], 'is empty: `muster init` writes a configuration to begin with')
    return undefined
  }
  const { data, faults = [] } = validateAll(fileSchema, value)
  const given = (value as { readonly queues?: unknown }).queues
  const { queues, faults: ofQueues } = checkQueues(Array.isArray(given) ? given : [])
  findings.faults([...faults, ...ofQueues], value)
  if (data === undefined || ofQueues.length > 0) return undefined
  const checked = { file: data, queues }
  const contradictions = contradictionsIn(checked)
  for (const { path, message } of contradictions) findings.of(path, message)
  for (const { path, message } of warningsAbout(checked)) findings.of(path, message, 'warning')
  return contradictions.length === 0 ? checked : undefined
}
