import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { cases, perform } from './contract.js';
import { expectTextOnce } from './cut-in-a-word.js';
import type { Driver } from './driver.js';
import { startFixture } from './fixture.js';
import type { Fixture } from './fixture.js';
import { pythonDriver, pythonWithClient } from './python-driver.js';

const python = await pythonWithClient('check,kafka');

/** Skipped only where there is no Python to run it, which the title then says. */
export function test(title: string, body: () => Promise<void>): void {
  if ('missing' in python) it.skip(`${title} (skipped: ${python.missing})`, body);
  else it(title, body);
}
/** The Python to run; empty where there is none. */
export const command = 'command' in python ? python.command : '';

/** The cases that all clients have in common, each or each so many, by one half of the Python client. */
export function pythonContract(way: 'sync' | 'async', every = 1): void {
  describe(`the Python client, ${way}`, () => {
    let fixture: Fixture;
    let driver: Driver;
    beforeAll(async () => {
      if (command === '') return;
      fixture = await startFixture();
      driver = pythonDriver(command, way);
    });
    afterAll(async () => {
      await driver?.close();
      await fixture?.close();
    });

    test('a text that is cut in a word goes on behind it', () => expectTextOnce(driver));
    for (const [n, one] of cases.entries())
      if (n % every === 0) test(one.name, () => perform(one, driver, fixture, `${way}-${n}`));
  });
}
