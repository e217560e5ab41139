import { render } from 'preact'

const root = document.querySelector('#app')
if (root !== null) render(<h1>Muster</h1>, root)
