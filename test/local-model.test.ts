import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { sluice } from './harness/program.js';

/** Where docs/discovery.md puts a local model; another folder where the environment names one. */
const folder = process.env['SLUICE_TEST_MODELS'] ?? 'models';
const tried = (model: string, question: string) =>
  sluice([
    ...['discovery', 'try', '--tools', 'examples/discovery/tools.json', '--strategy', 'hybrid', '--max', '3'],
    ...['--model', model, question],
  ]).ended;

// ONNX Runtime wants its own process: it knows no arrays of another realm, as a test has them.
describe('a local embedding model', () => {
  if (existsSync(join(folder, 'model.onnx')))
    it('finds a tool that shares no word with the question', async () => {
      const { output, errors } = await tried(folder, 'Will it rain in Oslo tomorrow?');
      expect(errors).toBe('');
      expect(output).toMatch(/^✓ get_weather /m);
    });
  else
    it(`is not installed in ${folder}, so what it finds is not tested: docs/discovery.md says how to get it`, async () => {
      const { code, errors } = await tried(folder, 'Will it rain?');
      expect(code).not.toBe(0);
      expect(errors).toMatch(/model\.onnx|onnxruntime/);
    });
});
