import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { projectRoot } from '../harness/configurations.js';

const suite = join(projectRoot, 'node_modules/@modelcontextprotocol/conformance');
const flags = ['--experimental-transform-types', '--disable-warning=ExperimentalWarning'];
const hooks = `--import=${join(projectRoot, 'test/process/typescript.mjs')}`;
const client = [process.execPath, ...flags, hooks, join(projectRoot, 'test/mcp/conformance-client.ts')].join(' ');

interface Requirements {
  readonly client: readonly string[];
  readonly not_scored: readonly { readonly scenario: string; readonly leg: string }[];
}

/** Every client scenario that the suite has for a revision, those it does not score included. */
function scenariosOf(revision: string): readonly string[] {
  const file = readFileSync(join(suite, 'requirements', `${revision}.yaml`), 'utf8');
  const { client: required, not_scored: others } = parse(file) as Requirements;
  return [...required, ...others.flatMap(({ scenario, leg }) => (leg === 'client' ? [scenario] : []))];
}

/** The rows of the page on the hub that name scenarios which do not apply. */
const page = readFileSync(join(projectRoot, 'docs/mcp-hub.md'), 'utf8');
const rows = page.split('\n').filter((line) => /^\| .* \| (?:both|20\d\d-\d\d-\d\d) \|/.test(line));

function notApplicable(revision: string): readonly string[] {
  const those = rows.filter((line) => line.includes(`| ${revision} |`) || line.includes('| both |'));
  return those.flatMap((line) => [...(line.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));
}

const isWithin = (names: readonly string[]) => (scenario: string) =>
  names.some((name) => name === scenario || (name.endsWith('/*') && scenario.startsWith(name.slice(0, -1))));

const revisions = ['2025-11-25', '2026-07-28'];

/** The scenarios for clients of each revision, or those of a name in the list. */
export function hubScenarios(only?: readonly string[]): void {
  describe('the protocol’s own conformance scenarios for clients, against the hub', () => {
    const home = mkdtempSync(join(tmpdir(), 'sluice-client-conformance-'));
    afterAll(() => rmSync(home, { recursive: true }));

    /** The end of the output of a scenario that failed; null for one that passed. */
    const run = (scenario: string, revision: string): Promise<string | null> =>
      new Promise((resolve) => {
        const args = ['client', '--command', client, '--scenario', scenario, '--spec-version', revision];
        const all = [join(suite, 'dist/index.js'), ...args, '--timeout', '90000'];
        execFile(process.execPath, all, { cwd: home, maxBuffer: 33_554_432 }, (error, stdout, stderr) =>
          resolve(error === null ? null : `${stdout}${stderr}`.slice(-3_000)),
        );
      });

    describe.each(revisions)('of revision %s', (revision) => {
      const applies = scenariosOf(revision).filter((name) => !isWithin(notApplicable(revision))(name));
      const tried = only === undefined ? applies : applies.filter((name) => only.includes(name));

      it('are named on the page where they do not apply, and only there', () => {
        const unknown = notApplicable(revision).filter((name) => !scenariosOf(revision).some(isWithin([name])));
        expect({ unknown, some: applies.length >= 4 && tried.length > 0 }).toEqual({ unknown: [], some: true });
      });

      it.each(tried)('%s passes (M-20, M-101)', async (scenario) => {
        // Scenarios wait for seconds here and there, which a start of the client on a busy machine may take.
        const failed = (await run(scenario, revision)) === null ? null : await run(scenario, revision);
        expect(failed).toBeNull();
      });
    });
  });
}
