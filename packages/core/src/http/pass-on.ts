/** A stand-in for an object that is created when it is needed. */
export interface Lazy {
  /** Returns the real object, creating it if needed. */
  real(): object
}

/**
 * Makes `lazy` an instance of `whole`'s class. Members of `whole` that `lazy` lacks are forwarded to `lazy.real()`.
 * @param instance one of the class: Node.js up to 22 keeps what `fetch` and `new Request(request)` read under symbols.
 */
export function passOn(lazy: Lazy, whole: object, instance: object): void {
  for (const key of Object.getOwnPropertySymbols(instance)) {
    Object.defineProperty(lazy, key, { configurable: true, get: propertyOf(key) })
  }
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
