import { InvalidConfig } from '../config/finding.js'
import { EXIT, type ExitCode } from './exit-codes.js'
import { countsOf, findingsText } from './findings.js'
import { paint, type Terminal } from './terminal.js'

/** Says why a configuration is not used, or a program does not start. Returns the exit code. */
export function refusal(error: unknown, file: string, terminal: Terminal): ExitCode {
  const { red } = paint(terminal.colours.complain)
  if (!(error instanceof InvalidConfig)) {
    terminal.complain(`${red('error')}: ${error instanceof Error ? error.message : String(error)}`)
    return EXIT.failed
  }
  terminal.complain(findingsText(file, error.findings, paint(terminal.colours.complain)))
  terminal.complain(`\n${file} cannot be used: ${countsOf(error.findings)}.`)
  return EXIT.wrong
}
