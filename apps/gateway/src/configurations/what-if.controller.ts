import { Controller, Inject, Req, Res } from '@nestjs/common';
import type { AssistantStreamChunk } from 'assistant-stream';
import type { Request, Response } from 'express';
import type { Configuration } from '@sluice/core';
import type { DifferingDecision } from '@sluice/replay';
import { RUNTIME } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import { whenGone } from '../client-disconnect.js';
import { describedBody } from '../described-body.js';
import { Route } from '../openapi/route.js';
import { prefers } from '../prefers.js';
import { Refusal } from '../refusal.js';
import { sendStream } from '../send-stream.js';
import { timeForms, timeOf } from '../times.js';
import { Candidates } from './candidates.js';
import { valueWithoutSecrets } from './hide.js';
import { WhatIfs } from './what-if.js';
import type { WhatIfEnd, WhatIfEvent, WhatIfQuestion } from './what-if.js';

const day = 24 * 3_600_000;
/** How long an answer may take; connections are often cut at a minute, but not while something comes. */
const longestAnswerMs = 50_000;
const longestStreamMs = 600_000;

/** The body of `POST /v1/what-if`, by its schema. */
interface WhatIfBody {
  readonly text: string;
  readonly since?: string | null;
  readonly until?: string | null;
  readonly tenant?: string | null;
  readonly session_id?: string | null;
  readonly tool?: string | null;
  readonly limit?: number;
}

/** Which recorded decisions a candidate would make otherwise, for operators. */
@Controller()
export class WhatIfController {
  constructor(
    @Inject(RUNTIME) private readonly runtime: Runtime,
    @Inject(Candidates) private readonly candidates: Candidates,
    @Inject(WhatIfs) private readonly whatIfs: WhatIfs,
  ) {}

  /** As a stream where that is preferred, else in one answer. Ends when its reader goes away. */
  @Route('whatIf')
  async ask(@Req() request: Request, @Res() response: Response): Promise<void> {
    const body = describedBody<WhatIfBody>(request, 'WhatIfRequest');
    const asked = this.whatIfs.begin();
    whenGone(response, () => asked.abort());
    try {
      const candidate = await this.candidates.configurationOf(body.text);
      this.candidates.requireTools(candidate);
      const isStream = prefers(request).kind === 'stream';
      const question = this.questionOf(body, candidate, isStream ? longestStreamMs : longestAnswerMs);
      const events = this.whatIfs.events(question, asked.signal);
      await (isStream ? this.stream(events, response) : this.answer(events, response));
    } finally {
      this.whatIfs.end(asked);
    }
  }

  private async answer(events: AsyncIterable<WhatIfEvent>, response: Response): Promise<void> {
    const decisions: DifferingDecision[] = [];
    let end: WhatIfEnd | null = null;
    for await (const { type, ...event } of events) {
      if (type === 'decision') decisions.push(event as DifferingDecision);
      else if (type === 'summary') end = event as WhatIfEnd;
    }
    // Without a summary the reader is gone, or the gateway is being stopped.
    if (end !== null) response.json(valueWithoutSecrets({ ...end, decisions }));
    else if (!response.closed)
      throw new Refusal(503, 'busy', 'This gateway is being stopped. Ask another one.', { 'retry-after': '1' });
  }

  private async stream(events: AsyncIterable<WhatIfEvent>, response: Response): Promise<void> {
    try {
      await sendStream(response, chunksOf(events));
    } catch (error) {
      if (!response.closed) this.runtime.log.warn({ error: String(error) }, 'a stream about a candidate was cut');
    }
  }

  private questionOf(body: WhatIfBody, candidate: Configuration, longestMs: number): WhatIfQuestion {
    const now = this.runtime.clock.now();
    const { since, until, tenant = null, session_id: session = null, tool = null, limit = 200 } = body;
    return {
      ...{ candidate, tenant, session, tool, limit, longestMs },
      since: timeIn('since', since, now) ?? now - day,
      until: timeIn('until', until, now) ?? now,
    };
  }
}

function timeIn(name: string, text: string | null | undefined, now: number): number | null {
  if (text === null || text === undefined) return null;
  const time = timeOf(text, now);
  if (Number.isNaN(time)) throw new Refusal(400, 'invalid_request', `${name} must be ${timeForms}.`);
  return time;
}

async function* chunksOf(events: AsyncIterable<WhatIfEvent>): AsyncGenerator<AssistantStreamChunk, void, undefined> {
  type Data = Extract<AssistantStreamChunk, { type: 'data' }>['data'];
  for await (const event of events)
    yield { type: 'data', path: [], data: [valueWithoutSecrets(event)] as unknown as Data };
}
