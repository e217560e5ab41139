import { computed, effect, signal, type ReadonlySignal, type Signal } from '@preact/signals'

/** `system`: what the system says. */
export type Scheme = 'system' | 'light' | 'dark'

const KEY = 'muster-console-scheme'
const isScheme = (text: string | null): text is Scheme => text === 'light' || text === 'dark'

export interface SchemeChoice {
  readonly chosen: Signal<Scheme>
  readonly isDark: ReadonlySignal<boolean>
}

/** The colour scheme, kept in this browser if one was chosen, and set on the root element. */
export function createScheme(window: Window): SchemeChoice {
  const { documentElement: root } = window.document
  const kept = window.localStorage.getItem(KEY)
  const chosen = signal<Scheme>(isScheme(kept) ? kept : 'system')
  const system = window.matchMedia('(prefers-color-scheme: dark)')
  const isSystemDark = signal(system.matches)
  system.addEventListener('change', ({ matches }) => {
    isSystemDark.value = matches
  })
  effect(() => {
    if (chosen.value === 'system') {
      delete root.dataset['scheme']
      window.localStorage.removeItem(KEY)
    } else {
      root.dataset['scheme'] = chosen.value
      window.localStorage.setItem(KEY, chosen.value)
    }
  })
  return {
    chosen,
    isDark: computed(() => (chosen.value === 'system' ? isSystemDark.value : chosen.value === 'dark')),
  }
}
