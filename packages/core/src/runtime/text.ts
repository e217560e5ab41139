/**
 * True if a string has no half of a surrogate pair. UTF-8 cannot represent such a half, so different strings could
 * become equal in a store. All supported versions of Node.js have the method, but the types of ES2023 do not.
 */
export const isWellFormed = (text: string): boolean => (text as string & { isWellFormed(): boolean }).isWellFormed()
