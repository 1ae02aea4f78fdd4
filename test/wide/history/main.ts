/** Seeds 100,000 runs, says how long that took (the goal is three minutes), and has audit and replay look at them. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../../..');
const folder = mkdtempSync(join(tmpdir(), 'sluice-history-'));
const data = join(folder, 'data');
const env = { ...process.env, SLUICE_DATA: data };

function runs(program: string, ...args: readonly string[]): boolean {
  const begun = performance.now();
  const { status } = spawnSync(process.execPath, [join(root, program), ...args], { cwd: root, env, stdio: 'inherit' });
  console.log(`${args.slice(0, 2).join(' ')}: ${((performance.now() - begun) / 1_000).toFixed(0)} s`);
  return status === 0;
}

try {
  const seeded = runs('bin/setup.mjs', 'bench', 'seed', '--runs', process.argv[2] ?? '100000', '--data', data);
  const right = seeded && runs('dist/main.js', 'audit', 'verify') && runs('dist/main.js', 'replay');
  process.exitCode = right ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
