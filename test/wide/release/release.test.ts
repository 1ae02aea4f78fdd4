import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { projectRoot } from '../../harness/configurations.js';

const { version: now } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as { version: string };
const [major = 0, minor = 0] = now.split('.').map(Number);
const version = `${major}.${minor + 1}.0-rc.1`;
const home = mkdtempSync(join(tmpdir(), 'sluice-rehearsal-'));
const to = join(home, 'release');
const git = (...args: string[]): string => execFileSync('git', args, { cwd: projectRoot, encoding: 'utf8' });
const state = (): readonly string[] => [git('status', '--porcelain'), git('branch', '--list'), git('tag', '--list')];
const before = state();

function release(...args: readonly string[]): { readonly code: number | null; readonly said: string } {
  const script = join(projectRoot, 'bin/setup.mjs');
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, 'release', ...args], {
    cwd: projectRoot,
    encoding: 'utf8',
  });
  return { code: status, said: `${stdout}${stderr}` };
}

/** What a member of an archive holds. */
const inArchive = (archive: string, member: string): string =>
  execFileSync('tar', ['-xOzf', join(to, archive), member], { encoding: 'utf8', maxBuffer: 1e8 });

afterAll(() => {
  spawnSync('docker', ['image', 'rm', `sluice:${version}`]);
  rmSync(home, { recursive: true, force: true });
});

describe('a release that cannot begin', () => {
  it('says every reason at once, and makes nothing', () => {
    const { code, said } = release(
      '0.0.1',
      '--rehearse',
      '--to',
      home.replace(/[^/]+$/, ''),
      '--key',
      join(home, 'none'),
    );
    expect(code).toBe(1);
    expect(said).toContain(`0.0.1 does not come after ${now}`);
    expect(said).toContain('is not empty. Remove it, or name another folder by --to.');
    expect(said).toContain('none is not there. Name the secret key of minisign by --key.');
    expect(readdirSync(home)).toEqual([]);
  });
});

describe('a rehearsed release', () => {
  let files: readonly string[] = [];

  beforeAll(() => {
    const { code, said } = release(version, '--rehearse', '--to', to);
    expect([code, said]).toEqual([0, expect.stringContaining('This was a rehearsal')]);
    files = readdirSync(to, { recursive: true })
      .map(String)
      .filter((name) => statSync(join(to, name)).isFile())
      .sort();
  }, 1_800_000);

  it('has every part, and nothing else', () => {
    const python = version.replace('-rc.', 'rc');
    expect(files.map((name) => name.replace(/-(amd64|arm64)\./, '-ARCH.'))).toEqual([
      'SHA256SUMS',
      'SHA256SUMS.minisig',
      `chart/sluice-${version}.tgz`,
      `image/sluice-${version}-ARCH.tar.gz`,
      'minisign.pub',
      'notes.md',
      `npm/sluice-${version}.tgz`,
      `npm/sluice-client-${version}.tgz`,
      `npm/sluice-tool-${version}.tgz`,
      `python/sluice_client-${python}-py3-none-any.whl`,
      'sbom/licences.md',
      `sbom/sluice-${version}.cdx.json`,
      `site/sluice-docs-${version}.tar.gz`,
    ]);
  });

  it('has its version in each part', () => {
    for (const name of ['sluice', 'sluice-client', 'sluice-tool'])
      expect(JSON.parse(inArchive(`npm/${name}-${version}.tgz`, 'package/package.json'))).toMatchObject({ version });
    const chart = inArchive(`chart/sluice-${version}.tgz`, 'sluice/Chart.yaml');
    expect(chart.match(/^(version|appVersion): .*$/gm)?.every((line) => line.includes(version))).toBe(true);
    expect(JSON.parse(readFileSync(join(to, `sbom/sluice-${version}.cdx.json`), 'utf8'))).toMatchObject({
      bomFormat: 'CycloneDX',
      metadata: { component: { version } },
    });
    expect(inArchive(`site/sluice-docs-${version}.tar.gz`, './llms.txt')).toContain('Sluice');
    expect(readFileSync(join(to, 'notes.md'), 'utf8')).toMatch(new RegExp(`^# Sluice ${version}\n\n### `));
    const said = spawnSync('docker', ['run', '--rm', `sluice:${version}`, '--version'], { encoding: 'utf8' });
    expect(said.stdout).toContain(version);
  });

  it('is verified by its checksums and its signature, and a changed part is not', () => {
    const check = (): number | null =>
      spawnSync('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd: to, encoding: 'utf8' }).status;
    const verify = ['-V', '-p', join(to, 'minisign.pub'), '-m', join(to, 'SHA256SUMS')];
    expect(check()).toBe(0);
    const { status, stdout } = spawnSync('minisign', verify, { encoding: 'utf8' });
    expect([status, stdout]).toEqual([0, expect.stringContaining(`Trusted comment: Sluice ${version}, `)]);
    const listed = readFileSync(join(to, 'SHA256SUMS'), 'utf8').trim().split('\n');
    expect(listed.map((line) => line.split('  ')[1])).toEqual(
      files.filter((name) => !/^(SHA256SUMS.*|minisign\.pub)$/.test(name)),
    );
    execFileSync('sh', ['-c', 'echo changed >> notes.md'], { cwd: to });
    expect(check()).toBe(1);
  });

  it('left the repository as it was', () => expect(state()).toEqual(before));
});
