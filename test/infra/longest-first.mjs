import TestSequencer from '@jest/test-sequencer';

/**
 * Starts the longest test files first, so that none of them is still running when all others have ended. Where an
 * earlier run on this machine left its times, Jest goes by these. Else it goes by the size of a file, which says
 * little here: so these files, the longest first, come before.
 */
const longest = ['libs/bus/test/kafka/contract-3.test.ts', 'libs/bus/test/kafka/contract-1.test.ts'];

export default class LongestFirst extends TestSequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    const rank = ({ path, duration }) => {
      const found = longest.findIndex((end) => path.endsWith(end));
      return duration !== undefined || found < 0 ? longest.length : found;
    };
    return sorted.sort((a, b) => rank(a) - rank(b));
  }
}
