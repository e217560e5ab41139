/** Says once, before all tests, which ones are not among them. */
export function setup(): void {
  process.stdout.write('the pages are tested in Chromium by pnpm browser, and not here\n')
}
