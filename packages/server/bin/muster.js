#!/usr/bin/env node
// Only for this workspace, where programs are linked before anything is built; the package itself has dist/cli/main.js.
await import('../dist/cli/main.js')
