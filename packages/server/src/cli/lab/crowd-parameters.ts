import { resolve } from 'node:path'
import type { checkCrowdParameters, CrowdParameterDescription, CrowdParameters } from '@muster/lab'
import { stringify } from 'yaml'
import { InvalidConfig } from '../../config/finding.js'
import { createFindings } from '../../config/findings.js'
import { readTextFile } from '../../config/read-text.js'
import { readYaml } from '../../config/yaml-source.js'

/** Largest file of parameters in bytes: thousands of cities. */
const LARGEST_FILE = 2 ** 20

/**
 * Reads the parameters of a crowd from a file, YAML or JSON.
 * @param given by options: they take precedence over the file.
 * @param check of the lab, which is loaded only where it is used.
 * @throws {InvalidConfig} with all that is wrong, by line and column
 */
export async function readCrowdParameters(
  file: string,
  folder: string,
  given: CrowdParameters,
  check: typeof checkCrowdParameters,
): Promise<CrowdParameters> {
  const read = await readTextFile(resolve(folder, file), LARGEST_FILE)
  if (read.wrong !== undefined) throw new InvalidConfig(file, [{ severity: 'error', field: '', message: read.wrong }])
  const source = readYaml(read.text)
  const findings = createFindings(source)
  const value = source.value ?? {}
  const whole: unknown = typeof value === 'object' && !Array.isArray(value) ? { ...value, ...given } : value
  const { data, faults = [] } = source.faults.length > 0 ? {} : check(whole)
  findings.faults(faults, value)
  if (data === undefined) throw new InvalidConfig(file, findings.sorted())
  return data
}

/** The parameters with their defaults as a file, each under what it is and where its default comes from. */
export function parametersText(parameters: readonly CrowdParameterDescription[]): string {
  const lines: string[] = []
  let group = ''
  for (const { name, default: value, description } of parameters) {
    const [outer = '', inner] = name.split('.')
    const indent = inner === undefined ? '' : '  '
    if (inner !== undefined && outer !== group) lines.push(`${outer}:`)
    group = outer
    lines.push(`${indent}# ${description}.`)
    lines.push(...yamlOf(inner ?? outer, value).map((line) => indent + line))
  }
  return lines.join('\n')
}

/** Lists of names and values take a line for each entry. */
function yamlOf(name: string, value: unknown): string[] {
  const isTable = Array.isArray(value) && typeof value[0] === 'object'
  const flow = { collectionStyle: 'flow', lineWidth: 0 } as const
  if (isTable) return [`${name}:`, ...value.map((entry) => `  - ${stringify(entry, flow).trimEnd()}`)]
  if (Array.isArray(value)) return [`${name}: ${stringify(value, flow).trimEnd()}`]
  return stringify({ [name]: value }, { lineWidth: 0 })
    .trimEnd()
    .split('\n')
}
