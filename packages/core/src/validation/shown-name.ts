// pure: names that other people read

/**
 * What nobody sees: controls, separators of lines, format characters, which turn the direction of text or have no
 * width, and what Unicode ignores by default or draws as nothing: fillers of Hangul and Khitan, the blank Braille
 * pattern, blank hieroglyphs, the null notehead. A selector (U+FE0E, U+FE0F) is seen where it chooses how a pictograph
 * is drawn.
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
 * What is wrong with a name that other people read; undefined if nothing is. Such a name cannot look like none,
 * disguise itself as another by what nobody sees, or change what stands beside it.
 */
export function faultOfShownName(name: string): string | undefined {
  if (UNSEEN.test(name)) return 'must have no control, direction, zero-width or blank characters'
  return /\P{Z}/u.test(name) ? undefined : 'must not be blank'
}
