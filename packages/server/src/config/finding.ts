/** Something that is wrong in a configuration, or that its author may not have meant. */
export interface Finding {
  /** A configuration with errors is not used; warnings are told. */
  readonly severity: 'error' | 'warning'
  /** Names and indices on the way to it, as in `queues.0.matchSize`; empty for the file as a whole. */
  readonly field: string
  /** What is wrong, in words that follow the field. No secret is in it. */
  readonly message: string
  /** Where it is, from 1; undefined where the file could not be read at all. */
  readonly line?: number | undefined
  /** In UTF-16 units, from 1, as editors count. */
  readonly column?: number | undefined
  /** The line with a mark under the place, without any text that may be a secret. */
  readonly excerpt?: string | undefined
}

/** The configuration cannot be used. */
export class InvalidConfig extends Error {
  /** All errors and warnings, in the order of the file. */
  readonly findings: readonly Finding[]

  static {
    this.prototype.name = 'InvalidConfig'
  }

  constructor(file: string, findings: readonly Finding[]) {
    super(
      findings
        .filter(({ severity }) => severity === 'error')
        .map((one) => inOneLine(file, one))
        .join('\n'),
    )
    this.findings = findings
  }
}

/** `muster.yaml:3:5: queues.0.matchSize: must be at least 1, got 0` */
function inOneLine(file: string, { line, column, field, message }: Finding): string {
  const place = line === undefined ? file : `${file}:${line}:${column}`
  return field === '' ? `${place}: ${message}` : `${place}: ${field}: ${message}`
}
