/**
 * Keeps what this version writes, for the tests of all later ones: its schemas in libs/contracts/test/released, and in
 * test/fixtures/released an export of real runs with the public keys that they were signed with. Does nothing where
 * the schemas are those of the last release. Part of `npm run release`.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { allTopics, recordNames, selfContained } from '@sluice/contracts';
import { recordsOf, releases, schemaOf } from './released.js';

const root = join(import.meta.dirname, '../..');
const names = [...new Set(allTopics.map((topic) => recordNames[topic]))];
const textOf = (record: string): string => `${JSON.stringify(selfContained(record), null, 2)}\n`;

function isNew(): boolean {
  const last = releases.at(-1);
  if (last === undefined || names.some((name) => !recordsOf(last).includes(name))) return true;
  return names.some((name) => JSON.stringify(JSON.parse(schemaOf(last, name)), null, 2) !== textOf(name).trim());
}

function sluice(environment: NodeJS.ProcessEnv, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, 'dist/main.js'), ...args], {
    env: { ...process.env, ...environment },
    encoding: 'utf8',
    maxBuffer: 1e8,
  });
  if (status !== 0) throw new Error(`sluice ${args.join(' ')} failed:\n${stdout}${stderr}`);
  return stdout;
}

if (!isNew()) console.log('The schemas are those of the last release.');
else {
  const release = String(releases.length + 1);
  const schemas = join(root, 'libs/contracts/test/released', release);
  mkdirSync(schemas);
  for (const name of names) writeFileSync(join(schemas, `${name}.avsc`), textOf(name));
  const data = mkdtempSync(join(tmpdir(), 'sluice-keep-'));
  try {
    const here = { SLUICE_DATA: data, SLUICE_LOG_LEVEL: 'error' };
    sluice(here, 'start', '--once');
    const recorded = join(root, 'test/fixtures/released', release);
    sluice(here, 'export', `${recorded}.sluice`);
    writeFileSync(`${recorded}.keys.json`, sluice(here, 'keys', 'export', 'agent'));
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
  console.log(`The schemas and a recorded run of this version are kept as release ${release}.`);
}
