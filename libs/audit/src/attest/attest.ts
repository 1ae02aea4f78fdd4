import type { Signatures } from '@sluice/core';
import { topics } from '@sluice/contracts';
import type { Bus } from '@sluice/bus';
import { SpanOfChain } from './chain.js';
import type { Span } from './chain.js';
import { bodyHash } from './report.js';
import type { Attestation, AttestationBody } from './report.js';
import type { QuoteSource } from './quote.js';

/**
 * A signed report on the calls of a span, out of the audit’s chains of agent.steps. The same log, keys and span give
 * the same report, once a checkpoint stands behind the span. Throws a sentence where a chain is not as the audit
 * wrote it.
 */
export async function attest(
  log: Pick<Bus, 'read'>,
  span: Span,
  { signatures, quotes }: { readonly signatures: Signatures; readonly quotes: QuoteSource | null },
): Promise<Attestation> {
  const chains = new Map<string, SpanOfChain>();
  for await (const { record } of log.read([topics.audit], { from: 'start' })) {
    if (record.sourceTopic !== topics.steps) continue;
    const chain = `${record.sourceTopic}/${record.sourcePartition}`;
    const known = chains.get(chain) ?? new SpanOfChain(chain, span, signatures);
    chains.set(chain, known);
    await known.take(record);
  }
  if (chains.size === 0) throw new Error('The audit has no entry of a call yet, so there is nothing to attest.');
  const { from, to, session } = span;
  const body: AttestationBody = {
    type: 'sluice-attestation',
    version: 1,
    from,
    to,
    session,
    signer: 'software',
    chains: [...chains.values()]
      .sort((one, other) => (one.chain < other.chain ? -1 : 1))
      .map((chain) => chain.finish()),
  };
  const hash = bodyHash(body);
  const signature = await signatures.sign('audit', { attestation: hash });
  return { ...body, signature, quote: (await quotes?.quote(hash)) ?? null };
}
