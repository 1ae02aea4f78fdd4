import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { localPrincipal } from '@sluice/core';
import { topics } from '@sluice/contracts';
import { createLog, openContent, openLogFile, readEnvironment, systemClock } from '@sluice/host';
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

  it(
    'is refused where its schema is none, or where the model is that of rules',
    async () => {
      const [schema, odd] = ['number.json', 'odd.json'].map((name) => join(folder, name));
      writeFileSync(schema ?? '', '{"type":"object"}');
      writeFileSync(odd ?? '', '{"$ref":"other.json"}');
      const asked = (file = '') =>
        sluice(['ask', question, '--answer-schema', file, '--json'], { SLUICE_DATA: folder }).ended;
      const { code, errors } = await asked(odd);
      expect([code, errors]).toEqual([1, expect.stringContaining('odd.json, refers to')]);
      const ruled = await asked(schema);
      expect([ruled.code, JSON.parse(ruled.output)]).toEqual([
        1,
        expect.objectContaining({ structured: null, error: expect.objectContaining({ code: 'invalid_request' }) }),
      ]);
    },
    testMs,
  );

  it(
    'sends files along, which are content of its run, and names what is no such file',
    async () => {
      const png = Buffer.from(
        'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=',
        'base64',
      );
      const [picture, notes, other] = ['a picture.png', 'notes.md', 'other.png'].map((name) => join(folder, name));
      writeFileSync(picture ?? '', png);
      writeFileSync(notes ?? '', '# Chile');
      writeFileSync(other ?? '', 'no picture');
      const asked = (id: string, ...files: (string | undefined)[]) =>
        sluice(
          ['ask', question, '--group', 'read-only', '--request', id, ...files.flatMap((one) => ['--file', one ?? ''])],
          { SLUICE_DATA: folder },
        ).ended;
      const { code, output } = await asked('with files', picture, notes);
      expect([code, output]).toEqual([0, expect.stringContaining('Santiago')]);
      const bus = await openLogFile(readEnvironment({ SLUICE_DATA: folder }), createLog('warn', process.stderr));
      const names: unknown[] = [];
      for await (const { record } of bus.read([topics.requests], { from: 'start' }))
        if (record.requestId === 'with files') names.push(...(record.content ?? []));
      await bus.close();
      const hash = expect.stringMatching(/^[0-9a-f]{64}$/);
      expect(names).toEqual([
        { hash, type: 'image/png', size: png.length, kind: 'image', name: 'a picture.png' },
        { hash, type: 'text/markdown', size: 7, kind: 'file', name: 'notes.md' },
      ]);
      const store = openContent(readEnvironment({ SLUICE_DATA: folder }), systemClock);
      const kept = await store.list({ tenantId: localPrincipal.tenantId, runId: 'with files' });
      await store.close();
      expect(kept.map(({ size }) => size).sort()).toEqual([png.length, 7].sort());

      const missing = await asked('missing', join(folder, 'none.png'));
      expect([missing.code, missing.errors]).toEqual([1, expect.stringContaining('cannot be read: there is none')]);
      const wrong = await asked('wrong', other);
      expect([wrong.code, wrong.errors]).toEqual([1, expect.stringContaining('is no PNG, JPEG, GIF or WebP image')]);
    },
    testMs,
  );
});

it('what needs attention is said for people beside the answer, also where standard error is no terminal', async () => {
  const data = mkdtempSync(join(tmpdir(), 'sluice-ask-people-'));
  try {
    const { output, errors } = await sluice(['ask', 'Hello?', '--agent', 'desk'], { SLUICE_DATA: data }).ended;
    expect(output).toContain('The agent "desk" is not one that you may ask.');
    expect(errors).toMatch(/ WARN {2}The agent "desk" is not one that you may ask\./);
    expect(errors).not.toContain('{"level"');
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
});
