import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readEvaluation } from '../../apps/sluice/src/eval/cases.js';

describe('the cases of an evaluation', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-cases-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const read = (cases: object) => {
    const file = join(folder, 'cases.yaml');
    writeFileSync(file, JSON.stringify({ cases: [cases] }));
    return readEvaluation(file).cases;
  };

  it('name the agent that is asked, but for a recorded run, which has its own', () => {
    expect(read({ name: 'one', question: 'Go', agent: 'support' })).toMatchObject([{ agent: 'support' }]);
    expect(read({ name: 'one', question: 'Go' })).toMatchObject([{ agent: null }]);
    expect(() => read({ name: 'one', recorded: { run: 'r' }, agent: 'support' })).toThrow('leave agent out');
  });
});
