import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const root = join(import.meta.dirname, '..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

/**
 * What the pages have a reader put into the project’s own folder: mounted by Compose, named by a variable of it, or
 * made by a command.
 */
const forms = [
  /['"]\.\/([\w.-]+)(?:\/[\w./-]*)?:\//g,
  /\b[A-Z_]+=\.\/([\w.-]+)/g,
  /\bsluice keys new ([\w.-]+)/g,
  /\bgo into `([\w.-]+)`/g,
];

describe('files that docs/ has a reader put beside docker-compose.yml', () => {
  const pages = ['README.md', ...globSync('docs/*.md', { cwd: root })];
  const named = new Set(
    pages.flatMap((page) => forms.flatMap((form) => [...read(page).matchAll(form)].map(([, file = '']) => file))),
  );
  const ignored = read('.gitignore').split('\n');

  it('are found in the pages', () => {
    expect([...named].sort()).toEqual([
      'docker-compose.override.yml',
      'keys.json',
      'model-key',
      'my',
      'my-alerts.yml',
      'new-keys.json',
    ]);
  });

  it.each([...named])('are not taken up by git: %s', (file) => {
    expect(ignored.some((line) => line === `/${file}` || line === `/${file}/`)).toBe(true);
  });

  it('do not come into the image: its context is what is named in .dockerignore', () => {
    const context = read('.dockerignore').split('\n');
    expect(context.indexOf('*')).toBeGreaterThanOrEqual(0);
    for (const file of named) expect(context).not.toContain(`!${file}`);
  });
});
