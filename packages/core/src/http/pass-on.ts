/** Stands for something that is made when it is needed. */
export interface Lazy {
  /** What it stands for. */
  real(): object
}

/**
 * Gives `lazy` everything that `whole` has and it does not have itself, from its `real()`; and makes it an instance of
 * it.
 */
export function passOn(lazy: Lazy, whole: object): void {
  for (const key of Reflect.ownKeys(whole)) {
    if (Object.hasOwn(lazy, key) || key === Symbol.toStringTag) continue
    const isMethod = typeof Object.getOwnPropertyDescriptor(whole, key)?.value === 'function'
    Object.defineProperty(lazy, key, {
      configurable: true,
      ...(isMethod ? { value: methodOf(key) } : { get: propertyOf(key) }),
    })
  }
  Object.setPrototypeOf(lazy, whole)
}

const propertyOf = (key: string | symbol) =>
  function get(this: Lazy): unknown {
    return Reflect.get(this.real(), key)
  }

const methodOf = (key: string | symbol) =>
  function call(this: Lazy, ...given: unknown[]): unknown {
    const real = this.real()
    return (Reflect.get(real, key) as (...given: unknown[]) => unknown).apply(real, given)
  }
