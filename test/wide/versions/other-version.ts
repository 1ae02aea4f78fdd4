import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../harness/configurations.js';
import { programAt } from '../../harness/program.js';
import type { Run } from '../../harness/program.js';

/** From before `run.parked_ms`, before keys of the agent, and with a log of format 2: 25 November 2026. */
export const former = '2376cb0';
export const variable = 'SLUICE_OTHER_VERSION';

export interface OtherVersion {
  readonly commit: string;
  /** Whether it is the one that the tests know by name, of which they hold more. */
  readonly isFormer: boolean;
  /** Runs its command line, as `sluice` does that of this tree. */
  readonly run: Run;
}

/**
 * The version of the project at `ref` of this repository's history, built by its own build beside this tree's caches.
 * What was built once is taken again.
 * @throws Error with a sentence where the history does not have it, or it cannot be built
 */
export function otherVersion(ref = process.env[variable] ?? former): OtherVersion {
  const commit = commitOf(ref);
  const versions = join(projectRoot, 'node_modules/.cache/sluice-versions');
  const folder = join(versions, commit);
  if (!existsSync(join(folder, '.ready'))) {
    rmSync(folder, { recursive: true, force: true });
    const coming = `${folder}.coming`;
    rmSync(coming, { recursive: true, force: true });
    mkdirSync(coming, { recursive: true });
    const archive = execFileSync('git', ['archive', commit], { cwd: projectRoot, maxBuffer: 1 << 30 });
    execFileSync('tar', ['-x', '-C', coming], { input: archive });
    // Where it stays, as it looks when it was installed and built.
    renameSync(coming, folder);
    say(`installing the packages of ${ref} …`);
    step(folder, 'npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error']);
    say(`building ${ref} …`);
    step(folder, process.execPath, ['bin/setup.mjs', 'build']);
    writeFileSync(join(folder, '.ready'), '');
  }
  const main = ['dist/main.js', 'dist/apps/sluice/src/main.js'].find((path) => existsSync(join(folder, path)));
  if (main === undefined) throw new Error(`The build of ${ref} in ${folder} left no program. Remove the folder.`);
  return { commit, isFormer: commit === commitOf(former, commit), run: programAt(folder, main) };
}

/** @throws Error where the history has no such commit and no `otherwise` is given */
function commitOf(ref: string, otherwise?: string): string {
  const asked = spawnSync('git', ['rev-parse', '--verify', '--quiet', `${ref}^{commit}`], { cwd: projectRoot });
  if (asked.status === 0) return asked.stdout.toString().trim();
  if (otherwise !== undefined) return '';
  throw new Error(
    `The history of ${projectRoot} has no version “${ref}”, which these tests run beside this tree. Fetch the whole history (git fetch --unshallow), or name a commit that it has in ${variable}.`,
  );
}

function step(folder: string, program: string, args: readonly string[]): void {
  const { status, error, stdout, stderr } = spawnSync(program, args, { cwd: folder, maxBuffer: 1 << 30 });
  if (status === 0) return;
  const said = `${error?.message ?? ''}${stdout?.toString() ?? ''}${stderr?.toString() ?? ''}`.slice(-4_000);
  throw new Error(`“${[program, ...args].join(' ')}” failed in ${folder}: ${said}`);
}

function say(sentence: string): void {
  process.stderr.write(`sluice: versions: ${sentence}\n`);
}
