// What `npm start` and `npm run …` call. It runs first, also on a Node that is too old (node-version.mjs).
import { installNode, leastNodeOfClone, withNode } from './node-version.mjs';

withNode(leastNodeOfClone, installNode, () =>
  import('./setup.mjs').then(({ main }) => main(process.argv[2], process.argv.slice(3))),
);
