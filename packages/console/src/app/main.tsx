import { render } from 'preact'
import { App } from './app.js'
import { browserClock } from './clock.js'
import { createStore, tabTokens } from './store.js'
import { StoreContext } from './store-context.js'

const root = document.querySelector('#app')
const store = createStore({
  clock: browserClock,
  random: () => Math.random(),
  window,
  fetch: (...request) => fetch(...request),
  tokens: tabTokens(sessionStorage),
})
if (root !== null) {
  render(
    <StoreContext.Provider value={store}>
      <App />
    </StoreContext.Provider>,
    root,
  )
}
