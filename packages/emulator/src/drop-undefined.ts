/** The type without undefined values: a key whose value may be undefined becomes optional instead. */
export type WithoutUndefined<T> = { [Key in keyof T as undefined extends T[Key] ? never : Key]: T[Key] } & {
  [Key in keyof T as undefined extends T[Key] ? Key : never]?: Exclude<T[Key], undefined>
}

/** Drops the keys whose value is undefined, so that spreading the object replaces only keys that have a value. */
export function dropUndefined<T extends object>(object: T): WithoutUndefined<T> {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as WithoutUndefined<T>
}
