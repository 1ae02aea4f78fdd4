import { describe, expect, it } from '@jest/globals';
import type { Verifier } from '@sluice/core';
import { versionOf } from '@sluice/core';
import { make, sha256 } from '@sluice/contracts';
import { ConfigurationRecords } from '@sluice/run';

const version = versionOf({} as never, sha256);
const recorded = (timestamp: number, recordSignature: string | null = null) => ({
  record: {
    ...make.configVersion({ version, configuration: JSON.stringify({ version }), compiledAt: 0 }),
    recordSignature,
  },
  timestamp,
});

/** There are keys of `config` since 10, and the only signature is of a key that is not here. */
const signatures = {
  since: () => 10,
  verify: () => Promise.resolve(null),
  unknownKey: () => 'k-1',
} as unknown as Verifier;

describe('an unsigned configuration', () => {
  it('has force if it is from before there were keys', async () => {
    const records = new ConfigurationRecords(signatures);
    expect((await records.take(recorded(9))).refusal).toBeNull();
    expect((await records.take(recorded(10))).refusal).toBe('unsigned');
  });

  it('has none behind a signed one, whatever its time', async () => {
    const records = new ConfigurationRecords(signatures);
    expect((await records.take(recorded(9, 's'))).refusal).toBe('unknown_key');
    expect((await records.take(recorded(9))).refusal).toBe('unsigned');
  });
});
