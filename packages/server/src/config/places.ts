// pure: values of the file that stand for something outside of it

/** Where a secret is: in a variable of the environment, or in a file. */
export class SecretSource {
  readonly from: 'env' | 'file'
  /** The variable's name, or the file's path. */
  readonly name: string

  constructor(from: 'env' | 'file', name: string) {
    this.from = from
    this.name = name
  }
}

/** A path as the file writes it: relative to the folder of the file. */
export class RelativePath {
  readonly path: string

  constructor(path: string) {
    this.path = path
  }
}
