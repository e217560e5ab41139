import { execFileSync } from 'node:child_process'
import { root } from '../links.js'

/** Builds the site once before all tests. A dead link fails the build. `BUILT=1` uses the existing build. */
export function setup(): void {
  if (process.env['BUILT'] === '1') return
  const vitepress = `${root}site/node_modules/vitepress/bin/vitepress.js`
  execFileSync(process.execPath, [vitepress, 'build', 'site'], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] })
}
