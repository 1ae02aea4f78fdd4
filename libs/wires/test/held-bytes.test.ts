import { describe, expect, it } from '@jest/globals';
import { createSplitter } from '@sluice/wires';

describe('bytes of a stream that are held', () => {
  it('are as they came when they are handed out, whatever comes behind them', () => {
    const frames = Array.from({ length: 50 }, (_, at) => Buffer.from(`data: ${String(at).repeat(at * 7 + 1)}\n\n`));
    const bytes = Buffer.concat(frames);
    for (const size of [1, 5, 64, 1_000]) {
      const splitter = createSplitter('anthropic');
      const events = [];
      for (let at = 0; at < bytes.length; at += size) events.push(...splitter.push(bytes.subarray(at, at + size)));
      expect(events.map(({ raw }) => Buffer.from(raw))).toEqual(frames);
      expect(splitter.end()).toEqual([]);
    }
  });

  it.each(['anthropic', 'bedrock'] as const)(
    'are given when the stream of %s ends amid an event, and only then',
    (wire) => {
      const half = Buffer.from([0, 0, 1, 0, 7]);
      const splitter = createSplitter(wire);
      expect(splitter.end()).toEqual([]);
      expect(splitter.push(half)).toEqual([]);
      expect(splitter.end().map(({ raw }) => Buffer.from(raw))).toEqual([half]);
    },
  );

  it('are copied once, not once for each piece that comes', () => {
    const splitter = createSplitter('anthropic');
    const piece = Buffer.alloc(256, 'a');
    const began = process.threadCpuUsage();
    for (let at = 0; at < 1 << 16; at++) splitter.push(piece);
    // Copying all of it for each piece would be half a million megabytes.
    expect(process.threadCpuUsage(began).user).toBeLessThan(20_000_000);
    expect(splitter.end()).toHaveLength(1);
  });
});
