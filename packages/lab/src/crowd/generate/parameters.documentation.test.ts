import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { describeParameters } from './parameters.js'

const page = readFileSync(new URL('../../../../../docs/rule-lab.md', import.meta.url), 'utf8')

const shown = (value: unknown): string => {
  if (Array.isArray(value))
    return typeof value[0] === 'object' ? `${value.length} of them` : `\`[${value.join(', ')}]\``
  if (typeof value !== 'object' || value === null) return `\`${JSON.stringify(value)}\``
  const entries = Object.entries(value).map(([name, weight]) => `${name}: ${String(weight)}`)
  return `\`{${entries.length === 0 ? '' : ` ${entries.join(', ')} `}}\``
}

test('the crowd documentation lists all parameters with their defaults and the sources of the defaults', () => {
  const rows = describeParameters().map(
    ({ name, default: value, description }) => `| \`${name}\` | ${shown(value)} | ${description} |`,
  )
  expect(rows.length).toBeGreaterThan(30)
  expect(page).toContain(rows.join('\n'))
})

test('each default of a crowd parameter has a reason or a source', () => {
  for (const { name, description } of describeParameters()) {
    expect(description, name).toMatch(/\. |: /)
    expect(description, name).not.toMatch(/\.$/)
  }
})
