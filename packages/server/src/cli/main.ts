#!/usr/bin/env node
import { Command } from 'commander'
import { version } from '../version.js'

const program = new Command('muster')
  .description('Matchmaking that deploys a game server for every match')
  .version(version)
await program.parseAsync()
