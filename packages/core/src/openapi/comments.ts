/**
 * What the doc comments of the description say, by type and field: read from its sources, as they do not exist at run
 * time.
 */
export type Comments = Readonly<Record<string, TypeComment>>

/** The comment on an interface, and those on its fields, inherited ones included. */
export interface TypeComment {
  readonly description?: string
  readonly fields: Readonly<Record<string, FieldComment>>
}

/** The comment on one field. */
export interface FieldComment {
  readonly description?: string
  readonly deprecated?: boolean
  /** Known values of a text that may have others. */
  readonly examples?: readonly string[]
  /** Comments on the fields of the object, or the list of objects, that stands here. */
  readonly fields?: Readonly<Record<string, FieldComment>>
}
