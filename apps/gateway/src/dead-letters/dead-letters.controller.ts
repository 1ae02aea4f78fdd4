import { Controller, Inject, Param, Query, Req } from '@nestjs/common';
import type { Request } from 'express';
import { Fault } from '@sluice/core';
import type { Principal } from '@sluice/core';
import { hideSecrets, letterAt, letterJson, planRedrive, redrive, redriveFacts, redriveOf } from '@sluice/run';
import type { Letter, Permit, Plan } from '@sluice/run';
import { RUNTIME } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import type { ListedLetter } from '@sluice/projection';
import { cursorFor } from '../lists/list-query.js';
import { Lists } from '../lists/lists.js';
import { ByPrincipal } from '../rights.js';
import { Refusal } from '../refusal.js';
import { requireNoBody } from '../strict-body.js';
import { letterQuery } from './letter-query.js';
import { Route } from '../openapi/route.js';

type Query_ = Readonly<Record<string, unknown>>;

/** Dead letters of all tenants, for operators (docs/dead-letters.md). */
@Controller()
export class DeadLettersController {
  constructor(
    @Inject(RUNTIME) private readonly runtime: Runtime,
    @Inject(Lists) private readonly lists: Lists,
  ) {}

  @Route('listDeadLetters')
  async list(@Query() query: Query_): Promise<object> {
    const { filter, limit, after } = letterQuery(query, this.runtime.clock.now());
    const found = await this.lists.projection.letters(filter, after, limit + 1);
    const page = found.slice(0, limit);
    const last = found.length > limit ? page.at(-1) : undefined;
    const { ledger } = this.runtime;
    const letters = await Promise.all(page.map(async (one) => listed(one, await redriveOf(one.id, ledger))));
    const cursor = last === undefined ? null : cursorFor({ startedAt: last.failedAt, requestId: last.id });
    return { dead_letters: letters, next_cursor: cursor };
  }

  /** One, with what it holds and what a redrive would do. */
  @Route('readDeadLetter')
  async show(@Param('id') id: string): Promise<object> {
    const letter = await this.letter(id);
    const redriven = await redriveOf(letter.id, this.runtime.ledger);
    const {
      key: _,
      group,
      session,
      timestamp,
      headers,
      record,
      unreadable,
      ...same
    } = letterJson({ letter, redriven });
    return {
      ...same,
      id: idInAddress(letter.id),
      ...{ service: group, session_id: session || null, appended_at: timestamp, headers, record, unreadable },
      redrive: described(await this.plan(letter)),
    };
  }

  /** Puts the record on the log again, once. Throws Refusal(409) with why not. */
  @Route('redrive')
  async redrive(@Req() http: Request, @Param('id') id: string, @ByPrincipal() operator: Principal): Promise<object> {
    requireNoBody(http);
    const letter = await this.letter(id);
    const plan = await this.plan(letter);
    const before = await redriveOf(letter.id, this.runtime.ledger);
    if (plan.kind === 'refused') throw conflict(before === null ? plan.why : wasRedriven(before));
    const { kind, ...came } = await this.redriven(letter, plan, nameOf(operator));
    if (kind === 'before') throw conflict(wasRedriven(came as { readonly by: string; readonly at: number }));
    if (kind === 'busy') throw conflict('It is being re-driven at this moment.');
    this.runtime.log.info({ dead_letter: letter.id, by: nameOf(operator) }, 'a dead letter was re-driven over HTTP');
    return { id: idInAddress(letter.id), status: 'redriven', topic: plan.message.topic, meaning: plan.means };
  }

  /** Throws Refusal(404). */
  private async letter(id: string): Promise<Letter> {
    const [, partition, offset] = /^(\d{1,6})[-/](\d{1,15})$/.exec(id) ?? [];
    const found =
      partition === undefined ? undefined : await letterAt(`${Number(partition)}/${Number(offset)}`, this.runtime.bus);
    if (found !== undefined) return found;
    throw new Refusal(
      404,
      'not_found',
      'There is no such dead letter, or it is gone. GET /v1/dead-letters lists those there are.',
    );
  }

  private async plan(letter: Letter): Promise<Plan> {
    const identity = this.runtime.configurations.current().configuration.identity.provider !== 'none';
    return planRedrive(letter, await redriveFacts(letter, identity, this.runtime));
  }

  private async redriven(letter: Letter, plan: Exclude<Plan, { kind: 'refused' }>, by: string) {
    try {
      return await redrive(letter, plan, by, this.runtime);
    } catch (error) {
      if (!(error instanceof Fault) || error.retryable || !/Grant the permission/.test(error.message)) throw error;
      this.runtime.log.error({ dead_letter: letter.id, error: error.message }, 'a redrive was refused by the log');
      throw new Refusal(
        503,
        'storage',
        'This gateway may not write what a redrive writes. Give its user the rights of “redriver” (sluice topics --acls), or use sluice dead-letters redrive.',
        { 'retry-after': '60' },
      );
    }
  }
}

function listed(letter: ListedLetter, redriven: Permit | null): object {
  return {
    id: idInAddress(letter.id),
    ...{ topic: letter.topic, partition: letter.partition, offset: letter.offset, service: letter.service },
    session_id: letter.sessionId || null,
    ...{ code: letter.code, reason: hideSecrets(letter.reason), attempts: letter.attempts },
    ...{ appended_at: letter.takenAt, failed_at: letter.failedAt },
    redriven: redriven === null ? null : { by: redriven.by, at: redriven.at },
  };
}

function described(plan: Plan): object {
  return plan.kind === 'refused'
    ? { possible: false, topic: null, meaning: plan.why }
    : { possible: true, topic: plan.message.topic, meaning: plan.means };
}

/** A slash would end the part of an address. */
function idInAddress(id: string): string {
  return id.replace('/', '-');
}

function nameOf({ actorId, tenantId }: Principal): string {
  return `${actorId} of ${tenantId}`;
}

function wasRedriven({ by, at }: { readonly by: string; readonly at: number }): string {
  return `It was re-driven by ${by}, ${new Date(at).toISOString()}.`;
}

function conflict(message: string): Refusal {
  return new Refusal(409, 'conflict', message);
}
