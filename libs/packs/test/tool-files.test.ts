import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { builtInTools } from '@sluice/packs';

const sources = join(import.meta.dirname, '../src');

/**
 * What tool files and the functions that they share may import: nothing that reaches a file, the network or the
 * process.
 */
const allowed = /^(?:zod|@sluice\/(?:core|tools)|gpt-tokenizer\/.+|node:crypto|node:timers\/promises)$/;
/** What the pack declares that its tools may be given, and the executor gives. */
const given = /\bcapability\.ts$/;

/** What a file of tools reaches for by itself, or through what it imports; types reach nothing. */
function violations(path: string, source: string, seen = new Set<string>()): string[] {
  const code = source.replace(/^import type [^;]+;$/gm, '');
  const found = code.matchAll(/^(?:import|export)\b[^;]*?\bfrom '([^']+)'|\bimport\(?\s*'([^']+)'/gm);
  const imports = [...found].map(([, from, alone]) => from ?? alone ?? '');
  const reaches = [...code.matchAll(/\bprocess\b|\bfetch\(|\brequire\(|\bglobalThis\b/g)].map(([word]) => word);
  const beyond = imports.flatMap((from) => {
    if (!from.startsWith('.')) return allowed.test(from) ? [] : [from];
    const file = join(dirname(path), from).replace(/\.js$/, '.ts');
    if (seen.has(file) || given.test(relative(sources, file))) return [];
    seen.add(file);
    return violations(file, readFileSync(file, 'utf8'), seen).map((what) => `${relative(sources, file)}: ${what}`);
  });
  return [...beyond, ...reaches];
}

describe('tool files', () => {
  const files = globSync(['general/*.ts', '*/tools/*.ts'], { cwd: sources });
  const read = (file: string): string => readFileSync(join(sources, file), 'utf8');

  it('are there, one for each tool', () => {
    const definitions = files.map((file) => read(file).match(/define\w*Tool\(/g)?.length ?? 0);
    expect(definitions.filter((count) => count > 0)).toEqual(builtInTools.map(() => 1));
  });

  it.each(files)('%s does nothing but through its capabilities (T-03b, T-32a)', (file) => {
    expect(violations(join(sources, file), read(file))).toEqual([]);
  });

  it('would be caught doing otherwise', () => {
    const planted = `import { readFileSync } from 'node:fs';\nimport { openFolder } from '../workspace/folder.js';\nprocess.env.KEY; await fetch('x');`;
    const found = violations(join(sources, 'general/planted.ts'), planted);
    expect(found).toEqual(expect.arrayContaining(['node:fs', 'process', 'fetch(']));
    expect(found).toContainEqual(expect.stringMatching(/^workspace\/folder\.ts: .*node:fs/));
  });
});
