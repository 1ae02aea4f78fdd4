/** A reporter that names the test files that took longest, so that it is seen where the minutes go. */
export default class Slowest {
  #files = [];

  onTestResult(_test, { testFilePath, perfStats, numPassingTests, numFailingTests }) {
    const seconds = (perfStats.end - perfStats.start) / 1_000;
    this.#files.push({ file: testFilePath, seconds, tests: numPassingTests + numFailingTests });
  }

  onRunComplete() {
    if (this.#files.length < 20) return;
    const slowest = this.#files.sort((a, b) => b.seconds - a.seconds).slice(0, 20);
    process.stderr.write('\nThe slowest twenty:\n');
    for (const { file, seconds, tests } of slowest)
      process.stderr.write(
        `${seconds.toFixed(1).padStart(7)} s  ${file.slice(process.cwd().length + 1)} (${tests} tests)\n`,
      );
  }
}
