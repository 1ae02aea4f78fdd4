import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { noteMeanings, wireNames } from '@sluice/wires';

const page = readFileSync(new URL('../../../docs/models.md', import.meta.url), 'utf8');

it('docs/models.md has every wire, and every kind of thing that is skipped', () => {
  for (const name of [...wireNames, ...Object.keys(noteMeanings)]) expect(page).toContain(`\`${name}\``);
});
