import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sluice } from './harness/program.js';

const testMs = 240_000;
const question = 'What is the capital of Chile?';

describe('a request that was made before', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-ask-'));
  const ask = (...args: string[]) =>
    sluice(['ask', question, '--group', 'read-only', '--request', 'once', ...args], { SLUICE_DATA: folder }).ended;
  let first = '';
  beforeAll(async () => {
    const { code, output } = await ask();
    first = output;
    expect([code, output]).toEqual([0, expect.stringContaining('Santiago')]);
  }, testMs);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it(
    'is shown with its result, in the same words',
    async () => {
      const { code, output } = await ask();
      expect([code, output]).toEqual([0, `${first}\nThe request once was used before; this is its run.\n`]);
    },
    testMs,
  );

  it.each(['--request', '--session'])('is not made with an id that is too long (%s)', async (option) => {
    const { code, errors } = await sluice(['ask', question, option, 'x'.repeat(257)], { SLUICE_DATA: folder }).ended;
    expect([code, errors]).toEqual([1, expect.stringContaining(`${option} has more than 256 characters`)]);
  });

  it(
    'has one answer for machines too, and was asked once',
    async () => {
      expect(JSON.parse((await ask('--json')).output)).toMatchObject({ request_id: 'once', kind: 'answer' });
      const { output } = await sluice(['tail', '--topic', 'agent.requests', '--from', 'start', '--once'], {
        SLUICE_DATA: folder,
      }).ended;
      expect(output.trim().split('\n')).toHaveLength(1);
    },
    testMs,
  );
});
