import { once } from 'node:events';
import { Controller, Inject, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { selectRecords, streamArchive } from '@sluice/archive';
import type { Selection } from '@sluice/archive';
import { attest, auditReportJson, verifyAudit } from '@sluice/audit';
import type { Attestation, AuditReport } from '@sluice/audit';
import { Busy, RUNTIME, verifierForLooking } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import { leaveStuck, whenGone } from '../client-disconnect.js';
import { between, parametersOf } from '../lists/list-query.js';
import { Route } from '../openapi/route.js';
import { prefers } from '../prefers.js';
import { Refusal } from '../refusal.js';
import { sendStream } from '../send-stream.js';
import { requireNoBody } from '../strict-body.js';
import { attestationParameters, exportParameters } from './proof-parameters.js';
import { verificationEvents } from './verification-stream.js';
import { WholeLog } from './whole-log.js';
import type { ReadingProgress } from './whole-log.js';

type Query_ = Readonly<Record<string, unknown>>;

/** What proves the log to others, for operators: it is of all tenants (docs/audit.md, docs/attestation.md). */
@Controller()
export class ProofController {
  constructor(
    @Inject(RUNTIME) private readonly runtime: Runtime,
    @Inject(WholeLog) private readonly wholeLog: WholeLog,
  ) {}

  /** Recomputes every chain; with a stream, says how far it is. */
  @Route('verifyAudit')
  async verify(@Req() request: Request, @Res() response: Response): Promise<void> {
    requireNoBody(request);
    const leaving = signalOf(response);
    if (prefers(request).kind !== 'stream') {
      const report = await this.verified(leaving, () => undefined);
      if (!leaving.aborted) response.json(auditReportJson(report));
      return;
    }
    let progress = (): ReadingProgress => ({ records: 0, entries: 0, at: null });
    const work = this.verified(leaving, (read) => (progress = read));
    const failed = (error: unknown): string => {
      this.runtime.log.warn({ error: String(error) }, 'a verification over HTTP ended early');
      return sentenceFor(error);
    };
    const events = verificationEvents(work, () => progress(), failed);
    await sendStream(response, events).catch((error: unknown) => {
      if (!leaving.aborted) this.runtime.log.warn({ error: String(error) }, 'a verification over HTTP was cut');
    });
  }

  private verified(leaving: AbortSignal, onBegin: (progress: () => ReadingProgress) => void): Promise<AuditReport> {
    return this.wholeLog.during(leaving, ({ log, signal, progress }) => {
      onBegin(progress);
      return verifyAudit(log, { signatures: verifierForLooking(this.runtime.environment), signal });
    });
  }

  /** The records of a span, as `sluice export` writes them. */
  @Route('exportLog')
  async export(@Query() query: Query_, @Res() response: Response): Promise<void> {
    const { session_id: session = null, tenant = null, ...times } = parametersOf(query, exportParameters);
    const selection: Selection = { ...this.rangeOf(times), session, tenant, topics: null };
    const leaving = signalOf(response);
    const now = this.runtime.clock.now();
    try {
      await this.wholeLog.during(leaving, async ({ log, signal }) => {
        let lost = 0;
        const records = selectRecords(log, selection, () => void lost++, signal);
        const name = `sluice-${new Date(now).toISOString().slice(0, 19).replaceAll(':', '-')}.sluice`;
        response.status(200).type('application/zstd');
        response.set({ 'content-disposition': `attachment; filename="${name}"` });
        leaveStuck(response);
        const appendFile = async (bytes: Uint8Array): Promise<void> => {
          if (!response.write(bytes)) await once(response, 'drain', { signal });
        };
        await streamArchive({ appendFile }, { selection, createdAt: now, records, undecodable: () => lost });
        response.end();
      });
    } catch (error) {
      if (leaving.aborted) return;
      if (!response.headersSent) throw error;
      // Without its trailer, no reader takes it for a whole one.
      this.runtime.log.warn({ error: String(error) }, 'an export over HTTP was cut');
      response.destroy();
    }
  }

  /** A signed report on the tool calls of a span, as `sluice attest` prints it. */
  @Route('attest')
  async attest(@Query() query: Query_, @Res() response: Response): Promise<void> {
    const { session_id: session = null, ...times } = parametersOf(query, attestationParameters);
    const range = this.rangeOf(times);
    const { environment, signatures } = this.runtime;
    if (!signatures.canSign('audit')) throw new Refusal(409, 'conflict', noKey);
    // What retired keys signed is genuine too.
    const signing = { signatures: { ...signatures, ...verifierForLooking(environment) }, quotes: null };
    const leaving = signalOf(response);
    const made = await this.wholeLog.during(leaving, ({ log }) =>
      attest(log, { ...range, session }, signing).catch((error: unknown) => {
        throw sentenceOfAttest(error);
      }),
    );
    if (leaving.aborted) return;
    response.type('application/json; charset=utf-8').send(`${JSON.stringify(made satisfies Attestation, null, 1)}\n`);
  }

  private rangeOf({ since, until }: { readonly since?: string; readonly until?: string }) {
    const bounds = between(since, until, this.runtime.clock.now());
    return { from: bounds.since ?? null, to: bounds.until ?? null };
  }
}

function signalOf(response: Response): AbortSignal {
  const leaving = new AbortController();
  whenGone(response, () => leaving.abort());
  return leaving.signal;
}

/** What a reader of the stream learns; the log has the rest. */
function sentenceFor(error: unknown): string {
  return error instanceof Refusal || error instanceof Busy
    ? error.message
    : 'The log could not be read to its end. The gateway’s log says why; try again in a moment.';
}

/** What cannot be attested is a plain sentence, with the options of the command line. */
function sentenceOfAttest(error: unknown): unknown {
  const isSentence = error instanceof Error && Object.getPrototypeOf(error) === Error.prototype;
  return isSentence ? new Refusal(409, 'conflict', error.message.replaceAll('--to', 'until')) : error;
}

const noKey =
  'This gateway has no private key of the audit, so it signs no report. Use sluice attest where the audit’s key is.';
