import { useState } from 'preact/hooks'
import { counted, grouped } from '../../parts/index.js'
import { whyOf } from '../feed/api.js'
import { useStore } from '../state/store-context.js'

const crowds = [100, 1000, 10_000]

/** Lets a crowd of bots arrive: only in `muster dev`. */
export function BotsPanel() {
  const { api, may, tellOutcome, connection } = useStore()
  const [isBusy, setBusy] = useState(false)
  const letIn = async (players: number) => {
    setBusy(true)
    try {
      await api().letBotsIn(players)
      tellOutcome(`${counted(players, 'bot')} arrive.`)
    } catch (error) {
      tellOutcome(whyOf(error, 'The bots did not come.'))
    }
    setBusy(false)
  }
  return (
    <fieldset class="bots" disabled={isBusy || !may('players') || connection.value !== 'live'}>
      <legend>Let players in</legend>
      {crowds.map((players) => (
        <button key={players} type="button" onClick={() => void letIn(players)}>
          {grouped(players)}
        </button>
      ))}
    </fieldset>
  )
}
