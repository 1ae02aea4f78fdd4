import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { cases, perform } from './contract.js';
import { expectTextOnce } from './cut-in-a-word.js';
import { startFixture } from './fixture.js';
import type { Fixture } from './fixture.js';
import { typescript } from './typescript-driver.js';

describe('the TypeScript client', () => {
  let fixture: Fixture;
  beforeAll(async () => {
    fixture = await startFixture();
  });
  afterAll(() => fixture.close());

  it('a text that is cut in a word goes on behind it', () => expectTextOnce(typescript));

  it.each(cases.map((one, n) => [one.name, one, `ts-${n}`] as const))('%s', (_, one, id) =>
    perform(one, typescript, fixture, id),
  );
});
