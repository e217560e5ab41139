#!/usr/bin/env node
// Used only in this workspace, where bins are linked before the packages are built. The published package has
// dist/cli/main.js.
await import('../dist/cli/main.js')
