import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { RecordFile } from '../src/discovery/record-file.js';

describe('a file of records', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-file-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('makes room for a new one when it is full, and keeps four former ones', async () => {
    const file = new RecordFile(join(folder, 'inner', 'a.jsonl'), 20);
    await Promise.all(Array.from({ length: 8 }, (_, at) => file.append([`{"at":${at}}`, '{"x":1}'])));
    expect(readdirSync(join(folder, 'inner')).sort()).toEqual([
      'a.jsonl',
      ...[1, 2, 3, 4].map((at) => `a.jsonl.${at}`),
    ]);
    expect(readFileSync(file.path, 'utf8')).toBe('{"at":7}\n{"x":1}\n');
    expect(readFileSync(`${file.path}.4`, 'utf8')).toBe('{"at":3}\n{"x":1}\n');
    expect(statSync(file.path).mode & 0o777).toBe(0o600);
  });

  it('says why it cannot write, and goes on when it can', async () => {
    const file = new RecordFile(join(folder, 'a.jsonl'));
    await file.append(['{}']);
    const within = new RecordFile(join(folder, 'a.jsonl', 'b.jsonl'));
    await expect(within.append(['{}'])).rejects.toThrow();
    await file.append(['{}']);
    expect(readFileSync(file.path, 'utf8')).toBe('{}\n{}\n');
  });
});
