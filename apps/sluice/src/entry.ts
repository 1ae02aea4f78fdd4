import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { leastNode, withNode } from '../../../bin/node-version.mjs';

/** dist → the project. */
const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** `dist/main.js`: loads the command line by `import()`, since an import that an older Node lacks would fail first. */
withNode(
  leastNode,
  `in a clone, run \`node ${join(root, 'bin/sluice.mjs')}\` instead, which brings Node 24 along; else install Node 24`,
  () => import('./main.js'),
);
