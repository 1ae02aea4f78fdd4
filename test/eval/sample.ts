import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { readEnvironment } from '@sluice/host';
import { run } from '../../apps/sluice/src/commands/eval.js';
import { projectRoot } from '../harness/configurations.js';
import { inProcess } from '../harness/in-process.js';

export interface Sample {
  readonly folder: string;
  /** The sample's cases, on a data set of their own. */
  readonly cases: string;
  /** Writes another file of cases that runs under the sample's configuration. */
  write(name: string, text: string): string;
  eval(...args: readonly string[]): Promise<{ code: number; output: string }>;
  close(): void;
}

/** The files of examples/eval, with the countries in a folder of their own. */
export async function openSample(): Promise<Sample> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-eval-test-'));
  const { buildCountries } = (await import(pathToFileURL(join(projectRoot, 'examples/countries/build.mjs')).href)) as {
    buildCountries(file: string): Promise<number>;
  };
  const data = join(folder, 'countries.nt');
  await buildCountries(data);
  const read = (file: string): string => readFileSync(join(projectRoot, 'examples/eval', file), 'utf8');
  const config = join(folder, 'sluice.yaml');
  writeFileSync(config, read('sluice.yaml').replace('examples/countries/countries.nt', data));
  const write = (name: string, text: string): string => {
    const file = join(folder, name);
    writeFileSync(file, text.replace('examples/eval/sluice.yaml', config));
    return file;
  };
  return {
    folder,
    write,
    cases: write('cases.yaml', read('cases.yaml')),
    eval: (...args) => inProcess(run, readEnvironment({ SLUICE_DATA: join(folder, 'data') }), ...args),
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}
