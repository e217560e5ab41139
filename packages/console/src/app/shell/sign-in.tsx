import { useRef } from 'preact/hooks'
import { useStore } from '../state/store-context.js'

/** Asks for the token. */
export function SignIn() {
  const { signIn, refusal } = useStore()
  const field = useRef<HTMLInputElement>(null)
  const submit = (event: Event) => {
    event.preventDefault()
    const token = field.current?.value.trim() ?? ''
    if (token === '') field.current?.focus()
    else signIn(token)
  }
  return (
    <section class="sign-in" aria-labelledby="sign-in">
      <h1 id="sign-in">Sign in</h1>
      <p>
        The console opens with an API key of the configuration, of a role other than <code>backend</code>.
        With <code>muster dev</code>, open the address that it prints.
      </p>
      <form onSubmit={submit}>
        <label for="token">Token</label>
        <input
          id="token"
          ref={field}
          type="password"
          autocomplete="off"
          spellcheck={false}
          aria-describedby="token-refused"
          aria-invalid={refusal.value !== ''}
        />
        <button type="submit" class="main">
          Sign in
        </button>
      </form>
      <p id="token-refused" class="failure" role="alert">
        {refusal.value}
      </p>
      <p class="hint">It stays in this tab, is sent to this server only, and is forgotten when the tab is closed.</p>
    </section>
  )
}
