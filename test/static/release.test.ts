import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';

const root = join(import.meta.dirname, '../..');
const { requireLater, setVersion, takeNotes } = (await import(join(root, 'bin/version.mjs'))) as {
  requireLater(now: string, next: string): void;
  takeNotes(changelog: string, version: string, date: string): { readonly changelog: string; readonly notes: string };
  setVersion(folder: string, now: string, next: string): readonly string[];
};
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly version: string };

describe('the version of a release', () => {
  it.each(['0.1.1', '0.2.0', '1.0.0', '0.1.1-rc.1', '0.10.0'])('%s comes after 0.1.0', (next) => {
    expect(() => requireLater('0.1.0', next)).not.toThrow();
  });

  it('comes after its candidates, which come one after another', () => {
    expect(() => requireLater('1.0.0-rc.9', '1.0.0-rc.10')).not.toThrow();
    expect(() => requireLater('1.0.0-rc.2', '1.0.0')).not.toThrow();
    expect(() => requireLater('1.0.0', '1.0.0-rc.3')).toThrow('does not come after 1.0.0');
  });

  it.each(['0.1.0', '0.0.9', '0.1.0-rc.1'])('%s does not', (next) => {
    expect(() => requireLater('0.1.0', next)).toThrow('Choose a later one');
  });

  it.each(['v1.0.0', '1.0', '1.0.0-beta', ''])('%s is none', (next) => {
    expect(() => requireLater('0.1.0', next)).toThrow('is no version of this project');
  });
});

describe('the changelog of a release', () => {
  const text =
    '# Changelog\n\nWords.\n\n## Unreleased\n\n### Added\n\n- A thing.\n\n## 0.1.0 (2026-01-01)\n\n- The first.\n';

  it('has what was not released under the version, and room for what comes', () => {
    expect(takeNotes(text, '0.2.0', '2026-02-02')).toEqual({
      changelog: text.replace('## Unreleased\n', '## Unreleased\n\n## 0.2.0 (2026-02-02)\n'),
      notes: '# Sluice 0.2.0\n\n### Added\n\n- A thing.\n',
    });
  });

  it('is refused where nothing changed', () => {
    const { changelog } = takeNotes(text, '0.2.0', '2026-02-02');
    expect(() => takeNotes(changelog, '0.3.0', '2026-03-03')).toThrow('has nothing under “Unreleased”');
    expect(() => takeNotes('# Changelog\n', '0.3.0', '2026-03-03')).toThrow('no heading “## Unreleased”');
  });
});

describe('the files of a release', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-release-'));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('have the new version wherever the old one stood', () => {
    const { stdout } = spawnSync('git', ['grep', '-lF', version], { cwd: root, encoding: 'utf8' });
    const files = stdout.split('\n').filter((name) => name !== '' && existsSync(join(root, name)));
    for (const name of files) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      cpSync(join(root, name), join(folder, name));
    }
    setVersion(folder, version, '9.8.7');
    // What else has these numbers: other programs, samples of texts, and figures that were measured on that version.
    const others = /^(CHANGELOG\.md|docs\/benchmarks\.md|schemas\/openapi\.json|(bench|examples|apps|test|bin)\/.*)$/;
    const left = files
      .filter((name) => !others.test(name))
      .flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'))
      .filter((line) => line.includes(version) && /sluice/i.test(line));
    expect(left).toEqual([]);
    for (const name of ['sluice', 'client', 'tool'])
      expect(JSON.parse(readFileSync(join(folder, `packages/${name}/package.json`), 'utf8'))).toMatchObject({
        version: '9.8.7',
      });
    const lock = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as {
      version: string;
      packages: Record<string, { version: string }>;
    };
    expect([lock.version, lock.packages['']?.version]).toEqual(['9.8.7', '9.8.7']);
  });
});
