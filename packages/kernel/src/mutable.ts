// pure: objects whose fields change

/**
 * The writable view that an object's maker has of it, while others only read. Plain fields replace getters: V8 keeps an
 * object literal with a getter as a dictionary, so each use of a member is a lookup; in the kernel that doubles the
 * time of a round.
 */
export type Mutable<Shape> = { -readonly [Field in keyof Shape]: Shape[Field] }
