import TestSequencer from '@jest/test-sequencer';
import { relative } from 'node:path';
import { times } from './times.mjs';

/**
 * Starts the longest test files first, so that none of them is still running when all others have ended. Where an
 * earlier run on this machine left its times, those count; else the ones in times.json; Jest goes by the size of a
 * file, which says little here.
 */
export default class LongestFirst extends TestSequencer {
  sort(tests) {
    const seconds = ({ path, duration, context }) =>
      duration === undefined
        ? (times[relative(context.config.rootDir, path).replaceAll('\\', '/')] ?? 0)
        : duration / 1_000;
    return super.sort(tests).sort((a, b) => seconds(b) - seconds(a));
  }
}
