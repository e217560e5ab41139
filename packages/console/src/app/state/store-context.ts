import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Store } from './store.js'

export const StoreContext = createContext<Store | undefined>(undefined)

export function useStore(): Store {
  const store = useContext(StoreContext)
  if (store === undefined) throw new Error('no store')
  return store
}
