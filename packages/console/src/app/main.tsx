import { render } from 'preact'
import { App } from './app.js'
import { browserClock } from './clock.js'
import { tabTokens } from './state/session.js'
import { StoreContext } from './state/store-context.js'
import { createStore } from './state/store.js'

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
