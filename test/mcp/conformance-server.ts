import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { projectRoot } from '../harness/configurations.js';
import { conformanceConfiguration } from './conformance-tools.js';
import { startMcpSystem } from './with-mcp.js';
import type { McpSystem } from './with-mcp.js';

const program = join(projectRoot, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');

/** What the scenarios came to: how many checks of each failed. */
type Failures = ReadonlyMap<string, number>;

/** The scenarios of which the page on MCP clients says, in a table, that they do not apply. */
function notApplicable(revision: string): readonly string[] {
  const page = readFileSync(join(projectRoot, 'docs/mcp.md'), 'utf8');
  const rows = page.split('\n').filter((line) => line.startsWith('| ') && line.includes(`| ${revision}`));
  const both = page.split('\n').filter((line) => line.startsWith('| ') && line.includes('| both |'));
  return [...rows, ...both].flatMap((line) =>
    [...(line.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
  );
}

/** The scenarios of the revisions, or those of a name in the list, against the MCP door of a service. */
export function serverScenarios(only?: readonly string[]): void {
  describe('the protocol’s own conformance scenarios', () => {
    const home = mkdtempSync(join(tmpdir(), 'sluice-conformance-'));
    let system: McpSystem;
    beforeAll(async () => {
      system = await startMcpSystem(conformanceConfiguration(home));
    });
    afterAll(async () => {
      await system.close();
      rmSync(home, { recursive: true });
    });

    const run = (args: readonly string[]): Promise<Failures> =>
      new Promise((resolve, reject) => {
        const all = [program, 'server', '--url', system.mcp.url, '--timeout', '60000', ...args];
        execFile(process.execPath, all, { cwd: home, maxBuffer: 33_554_432 }, (_, stdout, stderr) => {
          const lines = [...stdout.matchAll(/^[✓✗] ([\w-]+): \d+ passed, (\d+) failed$/gm)];
          if (lines.length === 0) reject(new Error(`The scenarios did not run: ${stderr}${stdout}`.slice(-2_000)));
          resolve(new Map(lines.map(([, name = '', count]) => [name, Number(count)])));
        });
      });

    const passes = (args: readonly string[]): Promise<boolean> =>
      new Promise((resolve) => {
        execFile(process.execPath, [program, 'server', '--url', system.mcp.url, ...args], { cwd: home }, (error) =>
          resolve(error === null),
        );
      });

    if (only !== undefined) {
      it.each(only)('%s of revision 2026-07-28 passes (M-01)', async (name) => {
        const args = ['--scenario', name, '--spec-version', '2026-07-28'];
        expect((await passes(args)) || (await passes(args))).toBe(true);
      });
      return;
    }

    it.each(['2025-11-25', '2026-07-28'])(
      'of revision %s pass, but for those that do not apply, which are on the page with the reason (M-01)',
      async (revision) => {
        const expected = new Set(notApplicable(revision));
        const failures = await run(['--requirements', revision]);
        const stale = [...expected].filter((name) => failures.get(name) === 0);
        const unexpected = [...failures].filter(([name, count]) => count > 0 && !expected.has(name));
        // Scenarios wait for half a second here and there, which the first call of a tool, or a busy machine, may take.
        const still = [];
        for (const [name] of unexpected) {
          // Forced, or a scenario of an extension is left out and counts as passed.
          if (!(await passes(['--scenario', name, '--spec-version', revision, '--force']))) still.push(name);
        }
        expect({ stale, unexpected: still }).toEqual({ stale: [], unexpected: [] });
        expect(failures.size).toBeGreaterThan(30);
      },
    );
  });
}
