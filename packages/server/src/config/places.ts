// pure: values of the file that stand for something outside of it

export type SecretUse = 'sent' | 'signs'

/** Where a secret is: in a variable of the environment, or in a file. */
export class SecretSource {
  readonly from: 'env' | 'file'
  /** The variable's name, or the file's path. */
  readonly name: string
  /** A secret that is sent stands in a header, which takes few letters; one that signs never leaves the process. */
  readonly use: SecretUse

  constructor(from: 'env' | 'file', name: string, use: SecretUse) {
    this.from = from
    this.name = name
    this.use = use
  }
}

/** A path as the file writes it: relative to the folder of the file. */
export class RelativePath {
  readonly path: string

  constructor(path: string) {
    this.path = path
  }
}
