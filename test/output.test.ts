import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLog, openBus, readEnvironment } from '@sluice/service';
import { newRequest } from '../apps/sluice/src/run-request.js';
import { Output } from '../apps/sluice/src/show/output.js';
import { projectRoot } from './harness/configurations.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-output-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const main = join(projectRoot, 'dist/apps/sluice/src/main.js');
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
const testMs = 60_000;

describe('what a command writes', () => {
  beforeAll(async () => {
    const { bus } = await openBus(readEnvironment({ SLUICE_DATA: folder }), createLog('silent'));
    const question = 'x'.repeat(1_000);
    await bus.publish(
      Array.from({ length: records }, (_, n) => ({
        topic: 'agent.requests' as const,
        key: `s-${n}`,
        record: newRequest(question, { requestId: `r-${n}`, sessionId: `s-${n}` }),
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

  it(
    'is told of if it cannot be written',
    async () => {
      const child = command(tail, '/dev/full');
      const errors = text(child.stderr);
      expect(await once(child, 'exit')).toEqual([1, null]);
      expect(await errors).toMatch(/^sluice: Standard output cannot be written to: .*no space.*\n$/);
    },
    testMs,
  );
});
