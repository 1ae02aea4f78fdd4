import type { Signatures, Verifier } from '@sluice/core';
import type { Quote } from './report.js';

/** Where quotes come from: a trusted execution environment, or software that says so. */
export interface QuoteSource {
  /** `hash` is the report’s, hexadecimal. */
  quote(hash: string): Promise<Quote>;
}

/** Stands in for hardware where there is none. It proves no more than the report’s own signature. */
export function softwareQuotes(signatures: Signatures): QuoteSource {
  return {
    quote: async (hash) => ({
      kind: 'software',
      evidence: await signatures.sign('audit', { quote: 'software', report_data: reportData(hash) }),
    }),
  };
}

/** Where 64 bytes of report data stand in a quote, by the vendors’ formats. */
const offsets: Readonly<Record<string, number>> = {
  // Quote v3: a header of 48 bytes, and report_data at 320 in the enclave’s report.
  sgx: 48 + 320,
  // Quote v4: a header of 48 bytes, and report_data at 520 in the TD’s report.
  tdx: 48 + 520,
  // ATTESTATION_REPORT of SEV-SNP.
  'sev-snp': 0x50,
};

const quoteKinds = ['software', ...Object.keys(offsets)];

/** The 64 bytes that a quote holds of a report, hexadecimal. */
const reportData = (hash: string): string => hash.padEnd(128, '0');

/** What is wrong with a quote, in a sentence; null if it is of this report. */
export async function quoteProblem({ kind, evidence }: Quote, hash: string, keys: Verifier): Promise<string | null> {
  if (kind === 'software') {
    const claims = await keys.verify('audit', evidence);
    const isGood = claims?.['quote'] === 'software' && claims['report_data'] === reportData(hash);
    return isGood ? null : 'The software quote is not the audit’s, or is of another report.';
  }
  const offset = Object.hasOwn(offsets, kind) ? offsets[kind] : undefined;
  if (offset === undefined) return `The quote’s kind is unknown; it must be one of ${quoteKinds.join(', ')}.`;
  const found = Buffer.from(evidence, 'base64').subarray(offset, offset + 64);
  return found.toString('hex') === reportData(hash) ? null : `The ${kind} quote is of another report.`;
}
