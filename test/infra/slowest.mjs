import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { keepTimes } from './times.mjs';

/**
 * A reporter that names the test files that took longest, with their CPU time, so that it is seen where the minutes
 * go. Where SLUICE_TEST_TIMES is set it keeps the times, by which the next runs order the files.
 */
export default class Slowest {
  #files = [];
  #folder = mkdtempSync(join(tmpdir(), 'sluice-test-cpu-'));
  #root = process.cwd();

  /** Before there are workers, which get the variable. */
  onRunStart() {
    process.env.SLUICE_TEST_CPU = join(this.#folder, 'cpu.jsonl');
  }

  onTestResult(_test, { testFilePath, perfStats, numPassingTests, numFailingTests }) {
    const seconds = (perfStats.end - perfStats.start) / 1_000;
    const path = relative(this.#root, testFilePath).replaceAll('\\', '/');
    this.#files.push({ path, seconds, tests: numPassingTests + numFailingTests });
  }

  onRunComplete() {
    const cpu = this.#cpu();
    rmSync(this.#folder, { recursive: true, force: true });
    if (process.env.SLUICE_TEST_TIMES === '1') keepTimes(this.#files.map(({ path, seconds }) => [path, seconds]));
    if (this.#files.length < 20) return;
    const all = [...cpu.values()].reduce((sum, seconds) => sum + seconds, 0);
    const slowest = this.#files.sort((a, b) => b.seconds - a.seconds).slice(0, 20);
    process.stderr.write(`\nThe slowest twenty, in seconds by the clock and of CPU (all: ${all.toFixed(0)} CPU s):\n`);
    for (const { path, seconds, tests } of slowest)
      process.stderr.write(
        `${seconds.toFixed(1).padStart(7)} ${(cpu.get(path) ?? 0).toFixed(1).padStart(6)}  ${path} (${tests} tests)\n`,
      );
  }

  /** What the environment of each file wrote down; nothing if no file came so far. */
  #cpu() {
    try {
      const lines = readFileSync(join(this.#folder, 'cpu.jsonl'), 'utf8').trim().split('\n');
      return new Map(lines.map((line) => JSON.parse(line)).map(([path, s]) => [relative(this.#root, path), s]));
    } catch {
      return new Map();
    }
  }
}
