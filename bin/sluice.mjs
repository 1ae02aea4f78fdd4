#!/usr/bin/env node
// The command line of a clone. It runs first, also on a Node that is too old (node-version.mjs).
import { installNode, leastNodeOfClone, withNode } from './node-version.mjs';

withNode(leastNodeOfClone, installNode, () =>
  import('./setup.mjs').then(({ main }) => main('cli', process.argv.slice(2))),
);
