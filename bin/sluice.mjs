#!/usr/bin/env node
import { main } from './setup.mjs';

main('cli', process.argv.slice(2));
