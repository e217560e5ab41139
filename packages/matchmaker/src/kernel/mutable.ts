// pure: objects whose fields change

/**
 * As its maker sees an object that others only read. Fields instead of getters: an object literal with a getter is a
 * dictionary to V8, and each use of any of its members a lookup; here that doubles the time of a round.
 */
export type Mutable<Shape> = { -readonly [Field in keyof Shape]: Shape[Field] }
