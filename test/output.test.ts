import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openArchive } from '@sluice/archive';
import { createLog, openBus, readEnvironment } from '@sluice/host';
import { newRequest } from '../apps/sluice/src/run-request.js';
import { Output } from '../apps/sluice/src/show/output.js';
import { projectRoot } from './harness/configurations.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-output-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const main = join(projectRoot, 'dist/main.js');
const env = { PATH: process.env['PATH'] ?? '', SLUICE_DATA: folder };
const command = (args: readonly string[], output: 'pipe' | '/dev/full' = 'pipe') => {
  const words = [process.execPath, main, ...args];
  if (output !== 'pipe') words.unshift('/bin/sh', '-c', `exec "$0" "$@" > ${output}`);
  const [program = '', ...rest] = words;
  const child = spawn(program, rest, { cwd: projectRoot, env });
  child.stdin.on('error', () => undefined).end('{"group":["read-only"]}\n'.repeat(3_000));
  return child;
};

/** Ten times what a pipe holds. */
const records = 700;
const tail = ['tail', '--from', 'start', '--once', '--json'];
const exported = ['export', '-'];
const testMs = 240_000;

describe('what a command writes', () => {
  beforeAll(async () => {
    const { bus } = await openBus(readEnvironment({ SLUICE_DATA: folder }), createLog('silent'));
    // Base64 of random bytes, which an export compresses by a quarter only.
    const question = () => randomBytes(750).toString('base64');
    await bus.publish(
      Array.from({ length: records }, (_, n) => ({
        topic: 'agent.requests' as const,
        key: `s-${n}`,
        record: newRequest(question(), { requestId: `r-${n}`, sessionId: `s-${n}` }),
      })),
    );
    await bus.close();
  }, testMs);

  it(
    'is lost by no reader that is slow',
    async () => {
      const reader = command(tail);
      const ended = once(reader, 'close');
      await new Promise((go) => setTimeout(go, 2_000));
      const lines = (await text(reader.stdout)).trim().split('\n');
      expect(await ended).toEqual([0, null]);
      expect(lines.map((line) => (JSON.parse(line) as { key: string }).key)).toEqual(
        Array.from({ length: records }, (_, n) => `s-${n}`),
      );
    },
    testMs,
  );

  it(
    'is an export, whole and without a file, if - is its name and its reader is slow',
    async () => {
      const reader = command(exported);
      const [ended, errors] = [once(reader, 'close'), text(reader.stderr)];
      await new Promise((go) => setTimeout(go, 1_000));
      const file = join(folder, 'piped.sluice');
      writeFileSync(file, await buffer(reader.stdout));
      expect([await ended, await errors]).toEqual([
        [0, null],
        expect.stringMatching(new RegExp(`^✓ standard output: ${records} records, \\d+ bytes, SHA-256 \\w+\n$`)),
      ]);
      expect((await openArchive(file)).trailer.records).toEqual({ 'agent.requests': records });
      expect(existsSync(join(projectRoot, '-'))).toBe(false);
    },
    testMs,
  );

  it('is flushed when the reader has taken the last of it, too little to wait for on the way', async () => {
    const taken: string[] = [];
    const slow = new Writable({
      write: (piece: Buffer, _, next) => {
        setTimeout(() => {
          taken.push(piece.toString());
          next();
        }, 20);
      },
    });
    const output = new Output(slow);
    for (const line of ['one', 'two', 'three']) {
      output.write(line);
      await output.taken();
    }
    expect(taken).toEqual([]);
    await output.flushed();
    expect(taken).toEqual(['one', 'two', 'three', '']);
  });

  it.each([
    ['follows the log', tail.filter((word) => word !== '--once')],
    ['reads it once', tail],
    ['exports it', exported],
    ['never looks whether it is to stop', ['explain', '--config', 'examples/spec-5.1.yaml']],
  ])(
    'ends with its reader, without an error, if the command %s',
    async (_, args) => {
      const reader = command(args);
      const errors = text(reader.stderr);
      const exited = once(reader, 'exit');
      await once(reader.stdout, 'data');
      reader.stdout.destroy();
      expect(await exited).toEqual([0, null]);
      expect(await errors).toBe('');
    },
    testMs,
  );

  it.each([
    [
      'tail',
      tail,
      /^\{"error":\{"code":"failed","message":"Standard output cannot be written to: .*no space.*"\}\}\n$/,
    ],
    ['export', exported, /^sluice: Standard output cannot be written to: .*no space.*\n$/],
  ])(
    'is reported if it cannot be written: %s',
    async (_, args, report) => {
      const child = command(args, '/dev/full');
      const errors = text(child.stderr);
      expect(await once(child, 'exit')).toEqual([1, null]);
      expect(await errors).toMatch(report);
    },
    testMs,
  );
});
