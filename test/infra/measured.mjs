import { appendFileSync, readFileSync } from 'node:fs';
import { TestEnvironment } from 'jest-environment-node';

/**
 * Jest’s environment for Node, which writes down what CPU time a test file took, with the processes it started, for
 * the reporter in slowest.mjs.
 */
export default class Measured extends TestEnvironment {
  #path;
  #before = cpuSeconds();

  constructor(config, context) {
    super(config, context);
    this.#path = context.testPath;
  }

  async teardown() {
    await super.teardown();
    const file = process.env.SLUICE_TEST_CPU;
    if (file !== undefined) appendFileSync(file, `${JSON.stringify([this.#path, cpuSeconds() - this.#before])}\n`);
  }
}

/** Of this process, and of its children that have ended. */
function cpuSeconds() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6 + ofChildren();
}

/** Linux says it in ticks, of which a second has a hundred; elsewhere children are not counted. */
function ofChildren() {
  try {
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ');
    return (Number(fields[13]) + Number(fields[14])) / 100;
  } catch {
    return 0;
  }
}
