import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { usage } from '../../apps/sluice/src/commands/load.js';
import { projectRoot } from '../harness/configurations.js';

const read = (file: string): string => readFileSync(join(projectRoot, file), 'utf8');
const page = read('docs/load.md');
const first = (pattern: RegExp): string[] => [...page.matchAll(pattern)].map((match) => match[1] ?? '').sort();

describe('docs/load.md', () => {
  it('has exactly the options that there are', () => {
    expect(first(/^\| `(--[a-z]+)`/gm)).toEqual([...new Set(usage.match(/--[a-z]+/g))].sort());
  });

  it('has exactly the keys that a mix may have', () => {
    const source = read('apps/sluice/src/load/mix.ts');
    const keysOf = (name: string): string[] => {
      const [, body = ''] = source.split(`const ${name} = z.strictObject({`);
      return [...(body.split('\n});', 1)[0] ?? '').matchAll(/^ {2}(\w+):/gm)].map((match) => match[1] ?? '');
    };
    expect(first(/^\| `kinds\.<kind>\.(\w+)`/gm)).toEqual(keysOf('kind').sort());
    const top = first(/^\| `(\w+)(?:\.<user>)?` \|/gm);
    expect([...top, 'kinds'].sort()).toEqual(keysOf('mix').sort());
  });
});
