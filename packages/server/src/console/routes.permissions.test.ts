import { readFileSync } from 'node:fs'
import { isAllowed, permissionsOf, type Permission, type Role } from '@muster/console/internal'
import { expect, test } from 'vitest'
import { openConsole } from './open-console.fixture.js'
import { consoleRoutes } from './routes.js'

const roles = Object.keys(permissionsOf) as Role[]
const tokens: Readonly<Record<Role, string>> = {
  look: 'looker',
  players: 'keeper',
  rules: 'designer',
  operate: 'operator',
  deploy: 'deployer',
}

test('docs/console.md contains the table of permissions', () => {
  const page = readFileSync(new URL('../../../../docs/console.md', import.meta.url), 'utf8')
  const found = page.matchAll(/^\| [^|]* \| `(\w+)` \|((?:[^|]*\|){4}[^|]*)\|$/gm)
  const rows = [...found].map(([, permission, cells = '']) => [
    permission,
    cells.split('|').map((cell) => cell.trim() === 'yes'),
  ])
  const permissions: readonly Permission[] = ['see', 'players', 'rules', 'servers', 'deploy']
  expect(page).toContain(`| what | permission | ${roles.map((role) => `\`${role}\``).join(' | ')} |`)
  expect(rows).toEqual(permissions.map((permission) => [permission, roles.map((role) => isAllowed(role, permission))]))
})

test('every console route requires the permission of the table, and other requests are refused', async () => {
  const { ask } = await openConsole({ letBotsIn: () => {} })
  for (const [route, { who: permission, method, path }] of Object.entries(consoleRoutes)) {
    if (route === 'feed') continue
    const body = { id: 'x', queue: 'duel', yaml: '', version: 1, players: 1 }
    for (const role of roles) {
      const answer = await ask(`/console/api${path.replaceAll(/\{\w+\}/g, 'x')}`, {
        method,
        token: tokens[role],
        ...(method === 'GET' ? {} : { body }),
      })
      expect([route, role, answer.status === 403]).toEqual([route, role, !isAllowed(role, permission)])
    }
  }
})
