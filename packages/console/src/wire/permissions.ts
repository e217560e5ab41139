// pure: who may do what in the console

/** What a role may do: see everything and try changed rules; act on players; change rules; change what is deployed. */
export type Permission = 'see' | 'players' | 'rules' | 'deploy'

/** The roles of the console, each with all that it may do. docs/console.md has the same table. */
export const permissionsOf = {
  look: ['see'],
  players: ['see', 'players'],
  rules: ['see', 'rules'],
  operate: ['see', 'players', 'rules'],
  deploy: ['see', 'players', 'rules', 'deploy'],
} as const satisfies Readonly<Record<string, readonly Permission[]>>

export type Role = keyof typeof permissionsOf

export const isAllowed = (role: Role, permission: Permission): boolean =>
  (permissionsOf[role] as readonly Permission[]).includes(permission)
