#!/usr/bin/env node
import { createGame } from './create-game.js'

process.exitCode = await createGame(process.argv.slice(2), {
  say: (text) => void process.stdout.write(`${text}\n`),
  complain: (text) => void process.stderr.write(`${text}\n`),
  folder: process.cwd(),
  env: process.env,
})
