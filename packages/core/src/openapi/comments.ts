/**
 * Doc comments of the description, by type and field. They are read from its sources, because comments do not exist at
 * run time.
 */
export type Comments = Readonly<Record<string, TypeComment>>

/** The comment on an interface and those on its fields, including inherited fields. */
export interface TypeComment {
  readonly description?: string
  readonly fields: Readonly<Record<string, FieldComment>>
}

/** The comment on one field. */
export interface FieldComment {
  readonly description?: string
  readonly deprecated?: boolean
  /** Known values of a text that may have other values too. */
  readonly examples?: readonly string[]
  /** Comments on the fields of the field's own object, or of the objects in its list. */
  readonly fields?: Readonly<Record<string, FieldComment>>
}
