import { globSync, readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';

/** A call that decides about rights by a time, and the time of a record that a producer may have chosen. */
const judged =
  /(?:\.authenticate|judgeDecision|isOverdue)\((?:[^;]*?[\s.,(])?timestamp\b|\btimestamp < \w+(?:\.\w+)*\.since\(/;

it('no credential, approval or signature is judged by a time that producers may choose', () => {
  // Replay grants nothing: it compares what was decided with what stands on the log.
  const sources = globSync('{apps,libs}/*/src/**/*.ts').filter((file) => !file.startsWith('libs/replay/'));
  expect(sources.length).toBeGreaterThan(500);
  expect(sources.filter((file) => judged.test(readFileSync(file, 'utf8')))).toEqual([]);
  for (const former of ['authenticate(identity, credential, message.timestamp)', 'timestamp < signatures.since(role)'])
    expect(judged.test(`x.${former}`)).toBe(true);
});
