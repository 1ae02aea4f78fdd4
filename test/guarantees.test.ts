import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const root = join(import.meta.dirname, '..');
const page = readFileSync(join(root, 'docs/guarantees.md'), 'utf8');
/** Those of promises have a number. */
const sections = page
  .split(/^## /m)
  .filter((section) => /^\d/.test(section))
  .map((section) => [section.split('\n', 1)[0] ?? '', section] as const);

/** Files named in back-ticks, with the title in quotation marks that follows, if one does. */
const named = [...page.matchAll(/`((?:libs|test)\/[^`]+)`(?:: “([^”]+)”)?/g)].map(
  ([, file = '', title = '']) => [file, title] as const,
);

describe('docs/guarantees.md', () => {
  it.each(named)('names what there is: %s %s', (file, title) => {
    expect(existsSync(join(root, file))).toBe(true);
    if (title !== '') expect(readFileSync(join(root, file), 'utf8')).toContain(title);
  });

  it('states the promises of the design, each with a test and with what it does not cover', () => {
    expect(sections.map(([heading]) => Number.parseInt(heading, 10))).toEqual([1, 2, 3, 4, 5, 6, 9, 12]);
    expect(named.length).toBeGreaterThan(20);
    for (const [, section] of sections) {
      expect(section).toMatch(/`(?:libs|test)\/[^`]+\.ts`/);
      expect(section).toContain('Not covered: ');
    }
  });

  it('G-11: points from each benefit to a test or a measurement that is there', () => {
    const [, rest = ''] = page.split('\n## What groups and states are good for\n');
    const rows = (rest.split('\n## ')[0] ?? '').split('\n').filter((line) => /^\| \w+: /.test(line));
    expect(rows.map((row) => /^\| (\w+): /.exec(row)?.[1])).toEqual([
      'security',
      'speed',
      'flexibility',
      'compatibility',
    ]);
    const measured = readFileSync(join(root, 'docs/benchmarks.md'), 'utf8');
    const slugs = [...measured.matchAll(/^## (.*)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\w -]/g, '')
        .replaceAll(' ', '-'),
    );
    for (const row of rows) {
      const files = [...row.matchAll(/`([^`]+)`/g)].map(([, file = '']) => file);
      const sections = [...row.matchAll(/benchmarks\.md#([\w-]+)/g)].map(([, section = '']) => section);
      expect(files.length + sections.length).toBeGreaterThan(0);
      expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
      expect(sections.filter((section) => !slugs.includes(section))).toEqual([]);
    }
  });

  it('names the files that work around kafkajs, and its version, as they are', () => {
    const [, section = ''] = page.split('\n## The dependence on kafkajs\n');
    const files = [...section.matchAll(/`(?!libs\/)([\w./-]+\.ts)`/g)].map(([, file = '']) => file);
    expect(files.length).toBeGreaterThan(5);
    for (const file of files) expect([file, existsSync(join(root, 'libs/bus/src/kafka', file))]).toEqual([file, true]);
    const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      readonly dependencies: Readonly<Record<string, string>>;
    };
    expect(section).toContain(`kafkajs ${dependencies['kafkajs']}`);
  });
});
