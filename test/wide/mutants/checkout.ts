import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Mutant } from './mutate.ts';

const copied = ['apps', 'libs', 'test', 'schemas', 'types', 'packages', 'examples', 'docs', 'ops'];
const files = ['package.json', 'tsconfig.json', 'jest.config.mjs', 'docker-compose.yml', 'README.md'];

export type Verdict = 'noticed' | 'survived' | 'hung';

/** A copy of the sources in which one mutant at a time is tried. */
export class Checkout {
  private readonly root: string;
  private readonly folder: string;

  constructor(root: string, folder: string) {
    this.root = root;
    this.folder = folder;
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    for (const name of copied)
      cpSync(join(root, name), join(folder, name), {
        recursive: true,
        filter: (path) => !path.includes('node_modules'),
      });
    for (const name of files) cpSync(join(root, name), join(folder, name));
    for (const name of ['node_modules', 'dist'])
      if (existsSync(join(root, name))) symlinkSync(join(root, name), join(folder, name));
  }

  /** Whether the suites pass on the sources as they are. */
  async passes(suites: readonly string[]): Promise<boolean> {
    return (await this.run(suites)) === 'survived';
  }

  async try(mutant: Mutant, suites: readonly string[]): Promise<Verdict> {
    const path = join(this.folder, mutant.file);
    const source = readFileSync(path, 'utf8');
    try {
      writeFileSync(path, source.slice(0, mutant.start) + mutant.text + source.slice(mutant.end));
      return await this.run(suites);
    } finally {
      writeFileSync(path, source);
    }
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  private run(suites: readonly string[]): Promise<Verdict> {
    const jest = join(this.root, 'node_modules/jest/bin/jest.js');
    const flags = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', jest];
    const args = ['--runInBand', '--bail', '--silent', '--runTestsByPath', ...suites];
    const child = spawn(process.execPath, [...flags, ...args], {
      cwd: this.folder,
      stdio: 'ignore',
      detached: true,
    });
    return new Promise((resolve, reject) => {
      const clock = setTimeout(() => {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
        resolve('hung');
      }, 180_000);
      child.once('error', reject);
      child.once('exit', (code) => {
        clearTimeout(clock);
        resolve(code === 0 ? 'survived' : 'noticed');
      });
    });
  }
}
