/** Prints once, before all tests, which tests this run leaves out. */
export function setup(): void {
  process.stdout.write('the pages are tested in Chromium by pnpm browser, and not here\n')
}
