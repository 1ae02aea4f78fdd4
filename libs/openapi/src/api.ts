import {
  ToolConnectionUnreachableError,
  ToolOutcomeLostError,
  ToolTimeoutError,
  ToolUnavailableError,
  ToolUserError,
} from '@sluice/core';
import type { HttpOperation, JsonObject, JsonValue, McpOffer, McpServer } from '@sluice/core';
import { refusalOf, valueOf } from './answer.js';
import { withCredential, withKey } from './credential.js';
import { GuardedRequests, isRead, RedirectError } from './guarded-requests.js';
import type { ReceivedAnswer, SentRequest } from './guarded-requests.js';
import { operationsOf } from './operations.js';
import { DocumentError, readDocument } from './read-document.js';
import { requestFor } from './request.js';

const answerBytes = 10_485_760;

interface OperationCall {
  readonly operation: HttpOperation;
  readonly signal: AbortSignal;
  readonly idempotencyKey: string;
  readonly timeoutMs: number;
  readonly trace?: Readonly<Record<string, string>>;
  readonly credential?: { readonly token: string; renew(): Promise<string | null> };
}

/** One HTTP API that an OpenAPI document describes. A call needs nothing of the document: the operation says it all. */
export class OpenApi {
  private readonly requests: GuardedRequests;

  constructor(private readonly server: McpServer) {
    this.requests = new GuardedRequests(server.openapi?.privateHosts ?? []);
  }

  /** Reads the document. One that cannot be read is an offer with its reason. */
  async offer(): Promise<McpOffer> {
    const { id, startMs, openapi } = this.server;
    try {
      const signal = AbortSignal.timeout(startMs);
      const document = await readDocument(openapi?.document ?? '', this.requests, signal);
      return { server: id, tools: operationsOf(document, this.server) };
    } catch (error) {
      if (error instanceof DocumentError || error instanceof TypeError) return { server: id, error: error.message };
      // Such as one that is nested too deep: no document hides the tools of other servers.
      return { server: id, error: `The document cannot be used: ${(error as Error).message}` };
    }
  }

  async call(tool: string, args: JsonObject, given: OperationCall): Promise<JsonValue> {
    const { operation, timeoutMs, credential } = given;
    const base = this.server.url ?? operation.url;
    if (base === undefined) throw new ToolUnavailableError(`The server ${this.server.id} has no base address.`);
    if (this.server.connection !== undefined && credential === undefined)
      throw new ToolUnavailableError(`The server ${this.server.id} wants a credential and was called without one.`);
    const request = withKey(requestFor(operation, base, args), this.server, given);
    const timer = AbortSignal.timeout(timeoutMs);
    const signal = AbortSignal.any([given.signal, timer]);
    try {
      const answer = await this.authenticated(request, credential, signal);
      const refusal = refusalOf(answer, {
        host: request.url.host,
        isRead: isRead(request.method),
        isAuthenticated: credential !== undefined,
      });
      if (refusal !== null) throw refusal;
      return valueOf(answer);
    } catch (error) {
      given.signal.throwIfAborted();
      if (timer.aborted)
        throw new ToolTimeoutError(`The tool ${tool} did not answer within ${String(timeoutMs / 1_000)} s.`, {
          cause: error,
        });
      if (error instanceof RedirectError) throw new ToolUserError(error.message);
      if (error instanceof ToolOutcomeLostError) throw new ToolOutcomeLostError(error.message, { cause: error.cause });
      throw error;
    }
  }

  close(): Promise<void> {
    return this.requests.close();
  }

  /** A server that refuses the credential is asked once more with a new one: it did not look at the call. */
  private async authenticated(
    request: SentRequest,
    credential: OperationCall['credential'],
    signal: AbortSignal,
  ): Promise<ReceivedAnswer> {
    const limits = { mostBytes: this.server.messageBytes ?? answerBytes, signal };
    if (credential === undefined) return this.requests.send(request, limits);
    const send = (token: string): Promise<ReceivedAnswer> =>
      this.requests.send(withCredential(request, this.server, token), limits);
    const answer = await send(credential.token);
    if (answer.status !== 401) return answer;
    const other = await credential.renew();
    const again = other === null ? answer : await send(other);
    if (again.status !== 401) return again;
    throw new ToolConnectionUnreachableError(
      `The server ${this.server.id} does not accept the credential of its connection.`,
    );
  }
}
