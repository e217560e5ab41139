import type { Finding } from '../config/finding.js'
import type { Paint } from './terminal.js'

/** Findings as a compiler writes them: the place, what is wrong, and the line with a mark. */
export function findingsText(file: string, findings: readonly Finding[], { strong, red, yellow }: Paint): string {
  return findings
    .map(({ severity, field, message, line, column, excerpt }) => {
      const place = strong(line === undefined ? file : `${file}:${line}:${column}`)
      const what = severity === 'error' ? red('error') : yellow('warning')
      const head = `${place}: ${what}: ${field === '' ? '' : `${field}: `}${message}`
      return excerpt === undefined ? head : `${head}\n${withMargin(excerpt, line)}`
    })
    .join('\n')
}

function withMargin(excerpt: string, line = 0): string {
  const number = `  ${line}`
  return excerpt
    .split('\n')
    .map((text, index) => `${index === 0 ? number : ' '.repeat(number.length)} | ${text}`)
    .join('\n')
}

/** `2 errors, 1 warning` */
export function countsOf(findings: readonly Finding[]): string {
  const count = (severity: Finding['severity']) => {
    const many = findings.filter((one) => one.severity === severity).length
    return many === 0 ? [] : [`${many} ${severity}${many === 1 ? '' : 's'}`]
  }
  return [...count('error'), ...count('warning')].join(', ')
}
