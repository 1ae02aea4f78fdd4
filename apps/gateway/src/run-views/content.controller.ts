import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { Controller, Inject, Param, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { ContentOwner, ContentStore, OpenContent, Principal } from '@sluice/core';
import { joinAnswer } from '@sluice/mcp';
import { RUNTIME } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import { leaveStuck, whenGone } from '../client-disconnect.js';
import { parametersOf } from '../lists/list-query.js';
import { Route } from '../openapi/route.js';
import { Refusal } from '../refusal.js';
import { ByPrincipal } from '../rights.js';
import { locationOfLink } from '../run-location.js';
import { RunReaders } from '../run-readers.js';
import type { RunReader } from '../run-readers.js';
import { RunsService } from '../runs.service.js';
import { extensionOf, servedType } from './content-types.js';
import { contentNamedBy } from './named-content.js';
import type { NamedContent } from './named-content.js';
import { readParameters } from './run-parameters.js';

type ContentRoute = 'GET /v1/runs/{request_id}/content' | 'GET /v1/runs/{request_id}/content/{hash}';

/** Content of a run, for those who may read the run. Tools gave it or askers sent it: it is never shown as a page. */
@Controller()
export class ContentController {
  constructor(
    @Inject(RUNTIME)
    private readonly runtime: Pick<Runtime, 'clock' | 'content' | 'log'>,
    @Inject(RunsService) private readonly runs: RunsService,
    @Inject(RunReaders) private readonly readers: RunReaders,
  ) {}

  @Route('readContent')
  async content(
    @ByPrincipal() caller: Principal,
    @Param('request_id') requestId: string,
    @Param('hash') hash: string,
    @Query() query: Readonly<Record<string, unknown>>,
    @Req() http: Request,
    @Res() response: Response,
  ): Promise<void> {
    const reader = await this.readerOf(caller, query, http, 'GET /v1/runs/{request_id}/content/{hash}');
    const leaving = new AbortController();
    whenGone(response, () => leaving.abort());
    const named = await this.named(requestId, hash, query, reader, leaving.signal);
    if (leaving.signal.aborted) return;
    if (named === null)
      throw new Refusal(404, 'not_found', 'Neither the question nor a step of the run names content of this hash.');
    const owner = { tenantId: reader.caller.tenantId, runId: requestId };
    const { content } = this.runtime;
    if (named.kind !== 'result') return this.send(await found(owner, hash, content), named, response, leaving.signal);
    const answer = await answerIn(owner, hash, content);
    asFile(response, named);
    response.json(answer);
  }

  @Route('listContent')
  async list(
    @ByPrincipal() caller: Principal,
    @Param('request_id') requestId: string,
    @Query() query: Readonly<Record<string, unknown>>,
    @Req() http: Request,
    @Res() response: Response,
  ): Promise<void> {
    const reader = await this.readerOf(caller, query, http, 'GET /v1/runs/{request_id}/content');
    const leaving = new AbortController();
    whenGone(response, () => leaving.abort());
    const at = locationOfLink({ requestId, query }, this.runtime.clock.now()) ?? requestId;
    const named = new Map<string, NamedContent>();
    for await (const message of this.runs.records(at, reader, leaving.signal))
      for (const one of contentNamedBy(message, requestId)) if (!named.has(one.hash)) named.set(one.hash, one);
    if (leaving.signal.aborted) return;
    const owner = { tenantId: reader.caller.tenantId, runId: requestId };
    const kept = named.size === 0 ? [] : await this.runtime.content.list(owner);
    const byHash = new Map(kept.map((one) => [one.hash, one]));
    response.json({
      request_id: requestId,
      content: [...named.values()].map((one) => {
        const { writtenAt = null, expiresAt = null } = byHash.get(one.hash) ?? {};
        return { ...one, is_kept: byHash.has(one.hash), written_at: writtenAt, expires_at: expiresAt };
      }),
    });
  }

  private async readerOf(
    caller: Principal,
    query: Readonly<Record<string, unknown>>,
    http: Request,
    route: ContentRoute,
  ): Promise<RunReader> {
    const { tenant } = parametersOf(query, readParameters);
    return this.readers.ofRequest(http, caller, tenant, route);
  }

  /** What the run’s records say of it. Throws Refusal(404) where there is no such run for the reader. */
  private async named(
    requestId: string,
    hash: string,
    query: Readonly<Record<string, unknown>>,
    reader: RunReader,
    signal: AbortSignal,
  ): Promise<NamedContent | null> {
    const at = locationOfLink({ requestId, query }, this.runtime.clock.now()) ?? requestId;
    for await (const message of this.runs.records(at, reader, signal)) {
      const one = contentNamedBy(message, requestId).find((content) => content.hash === hash);
      if (one !== undefined) return one;
    }
    return null;
  }

  private async send(
    content: OpenContent,
    named: NamedContent,
    response: Response,
    signal: AbortSignal,
  ): Promise<void> {
    const bytes = heldBack(content);
    // Before anything is sent: what cannot be read at all is a refusal.
    const first = await bytes.next();
    asFile(response, named);
    response.set({ 'content-type': servedType(content.type), 'content-length': String(content.size) });
    leaveStuck(response);
    try {
      await pipeline(Readable.from(from(first, bytes)), response);
    } catch (error) {
      if (!signal.aborted) this.runtime.log.warn({ error: String(error) }, 'a download of content was cut');
      response.destroy();
    }
  }
}

/** To be set once the content is there: a refusal is no file. */
function asFile(response: Response, { hash, type }: NamedContent): void {
  response.set({
    'content-disposition': `attachment; filename="${hash.slice(0, 16)}.${extensionOf(type)}"`,
    'content-security-policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
  });
}

async function found(owner: ContentOwner, hash: string, store: Pick<ContentStore, 'open'>): Promise<OpenContent> {
  const content = await store.open(owner, hash);
  if (content === undefined) throw new Refusal(404, 'not_found', 'The content is no longer kept; the step still says what it was.'); // prettier-ignore
  return content;
}

/** What an MCP server answered, with the bytes of its blocks in their places. */
async function answerIn(owner: ContentOwner, hash: string, store: Pick<ContentStore, 'open'>): Promise<unknown> {
  const read = async (one: string): Promise<Buffer> => buffer((await found(owner, one, store)).bytes());
  const answer = await joinAnswer(await read(hash), read);
  if (answer === null)
    throw new Refusal(404, 'not_found', 'The content is of a version of Sluice that this one does not know.');
  return answer;
}

/** The last piece comes only when all were found to be what was written, so that a spoiled download is never whole. */
async function* heldBack(content: OpenContent): AsyncGenerator<Uint8Array, void, undefined> {
  let held: Uint8Array | null = null;
  for await (const bytes of content.bytes()) {
    if (held !== null) yield held;
    held = bytes;
  }
  if (held !== null) yield held;
}

async function* from(
  first: IteratorResult<Uint8Array, void>,
  rest: AsyncGenerator<Uint8Array, void, undefined>,
): AsyncGenerator<Uint8Array, void, undefined> {
  if (first.done === true) return;
  yield first.value;
  yield* rest;
}
