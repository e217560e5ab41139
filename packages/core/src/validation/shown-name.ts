// pure: names that are shown to other players

/**
 * Characters that cannot be seen. They are controls, line separators, and format characters, which change the direction
 * of text or have no width. They also are characters that Unicode ignores by default or draws as nothing: Hangul and
 * Khitan fillers, the blank Braille pattern, blank hieroglyphs, the null notehead. A selector (U+FE0E, U+FE0F) is
 * allowed where it chooses how a pictograph is drawn.
 */
const UNSEEN = new RegExp(
  [
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u,
    /(?![\ufe0e\ufe0f])\p{Default_Ignorable_Code_Point}/u,
    /(?<!\p{Extended_Pictographic})(?:\ufe0e|\ufe0f(?!\u20e3))/u,
    /[\u{16fe4}\u2800\u{13441}\u{13442}\u{1d159}]/u,
  ]
    .map(({ source }) => source)
    .join('|'),
  'u',
)

/**
 * Returns the fault of a name that is shown to other players; undefined for a valid name. A valid name cannot look
 * empty, imitate another name by invisible characters, or change the text next to it.
 */
export function faultOfShownName(name: string): string | undefined {
  if (UNSEEN.test(name)) return 'must have no control, direction, zero-width or filler characters'
  return /\P{Z}/u.test(name) ? undefined : 'must not be blank'
}
