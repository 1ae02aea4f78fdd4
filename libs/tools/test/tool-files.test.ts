import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { builtInTools } from '../src/index.js';

const packs = join(import.meta.dirname, '../src/packs');
const allowed = /^(zod|@sluice\/core|(\.\.\/)+(contract|capabilities)\.js|\.\/shape\.js)$/;

/** What a tool file may not do: import anything but the contract function, or reach for the process, the network or files by itself. */
function violations(source: string): string[] {
  const imports = [...source.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map(([, path]) => path ?? '');
  const reaches = [...source.matchAll(/\bprocess\b|\bfetch\(|\brequire\(|\bglobalThis\b/g)].map(([word]) => word);
  return [...imports.filter((path) => !allowed.test(path)), ...reaches];
}

describe('tool files', () => {
  const files = globSync('**/*.ts', { cwd: packs }).filter((file) => !/(built-in|pack|shape)\.ts$/.test(file));

  it('are there, one for each tool', () => {
    const types = files.map((file) => /type: '([^']+)'/g.exec(readFileSync(join(packs, file), 'utf8'))?.[1]);
    expect(types.sort()).toEqual(builtInTools.map(({ type }) => type).sort());
  });

  it.each(files)('%s does nothing but through its capabilities (T-03b, T-32a)', (file) => {
    expect(violations(readFileSync(join(packs, file), 'utf8'))).toEqual([]);
  });

  it('would be caught doing otherwise', () => {
    const planted = `import { readFileSync } from 'node:fs';\nimport { openEmbeddedKnowledge } from '../knowledge/embedded.js';\nprocess.env.KEY; await fetch('x');`;
    expect(violations(planted)).toEqual(['node:fs', '../knowledge/embedded.js', 'process', 'fetch(']);
  });
});
