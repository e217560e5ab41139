// pure: names of keys

/** Names a key by its last part. All keys of one space are in one slot of a cluster. */
export type KeySpace = (name: string) => string

/** `keySpace('mu', 'lobbies')('due')` is `mu:{lobbies}:due`. */
export const keySpace =
  (prefix: string, tag: string): KeySpace =>
  (name) =>
    `${prefix}:{${tag}}:${name}`
