import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { effectServer } from '../../cluster/effect-server.js';
import type { EffectServer } from '../../cluster/effect-server.js';
import { actingConfiguration } from '../../harness/acting-configuration.js';
import { sluice } from '../../harness/program.js';
import type { Ended, Run } from '../../harness/program.js';
import { scriptedEndpoint } from '../../harness/scripted-endpoint.js';
import type { ScriptedEndpoint } from '../../harness/scripted-endpoint.js';
import { otherVersion } from './other-version.js';
import type { OtherVersion } from './other-version.js';

/** The sentence of a version that finds a file of a newer one; it names the version where the folder says it. */
const tooNew = /sluice: The (log|ledger) .* cannot be used: it was written by a newer version/;

describe('a data folder of another version, taken up by this one, and opened by the other again', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-versions-'));
  const data = join(folder, 'data');
  const before = join(folder, 'before');
  let other: OtherVersion;
  let model: ScriptedEndpoint;
  let effects: EffectServer;
  let variables: Record<string, string>;
  let asked = 0;
  let left = '';

  beforeAll(async () => {
    other = otherVersion();
    // So long that a run can be left under way.
    model = await scriptedEndpoint(
      [
        ['core__now', '{}'],
        ['mcp__effects__act', '{}'],
      ],
      200,
    );
    effects = await effectServer(20);
    const config = join(folder, 'sluice.yaml');
    writeFileSync(config, actingConfiguration(model.baseUrl, effects.url, 60));
    variables = { SLUICE_DATA: data, SLUICE_CONFIG: config };
  }, 600_000);
  afterAll(async () => {
    await effects?.close();
    await model?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const ask = (run: Run, request = `r-${asked++}`): Promise<Ended> =>
    run(['ask', 'Do it', '--group', 'work', '--request', request], variables).ended;
  const answered = { code: 0, output: expect.stringContaining('All is done.') };

  it('begins with the sample, a run with an effect and one that is killed on its way, all of the other version', async () => {
    const sample = await other.run(['start', '--once'], { SLUICE_DATA: data }).ended;
    expect(sample).toMatchObject({ code: 0, output: expect.stringContaining('The answer is right') });
    expect(await ask(other.run)).toMatchObject(answered);
    left = `r-${asked++}`;
    const killed = other.run(['ask', 'Do it', '--group', 'work', '--request', left], variables);
    await killed.says('Iteration 1');
    killed.process.kill('SIGKILL');
    await killed.ended;
    cpSync(data, before, { recursive: true });
  }, 300_000);

  it('goes on in this one: the killed run ends, new ones are answered, replay and audit find nothing', async () => {
    // An id is taken once: asked for again, its outcome is shown.
    expect(await ask(sluice, left)).toMatchObject(answered);
    expect(await ask(sluice)).toMatchObject(answered);
    expect(existsSync(join(data, 'written-by.json'))).toBe(true);
    await nothingFound();
  }, 300_000);

  it('works in the other one again, or is refused there with a sentence and unharmed', async () => {
    const again = await ask(other.run);
    const isRefused = again.code !== 0;
    // The default one knows a log of format 2 and no written-by.json: its sentence names the formats alone.
    if (other.isFormer) expect(again.errors).toMatch(/\(its format is \d+, this version knows 2\)/);
    expect(again).toMatchObject(isRefused ? { code: 1, errors: expect.stringMatching(tooNew) } : answered);
    if (isRefused) asked--;
    expect(await ask(sluice)).toMatchObject(answered);
    await nothingFound();
  }, 300_000);

  it('did each effect once', () => {
    const counts = [...effects.done.values()];
    expect(counts).toEqual(Array.from({ length: asked }, () => 1));
  });

  it('of which a copy from before goes on in the other one, and from there in this one', async () => {
    rmSync(data, { recursive: true });
    cpSync(before, data, { recursive: true });
    expect(await ask(other.run, 'after-the-copy')).toMatchObject(answered);
    expect(await ask(sluice, 'and-on')).toMatchObject(answered);
    await nothingFound();
  }, 300_000);

  async function nothingFound(): Promise<void> {
    const replayed = await sluice(['replay'], variables).ended;
    expect([replayed.code, replayed.output]).toEqual([
      0,
      expect.stringMatching(/✓ \d+ decisions replayed: \d+ equal, 0 different; 0 not replayable/),
    ]);
    const verified = await sluice(['audit', 'verify'], variables).ended;
    expect([verified.code, verified.output]).toEqual([0, expect.stringContaining('✓ Nothing was changed')]);
  }
});
