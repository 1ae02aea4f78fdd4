import type { Readable } from 'node:stream';
import type { UpstreamSettings } from '@sluice/core';
import { forwarded, isCredential, type ProxyFailure, type Target, withoutKey } from '@sluice/proxy';
import { Agent, errors } from 'undici';
import type { ClientRequest } from './client-request.js';
import type { Credentials } from './credentials.js';

/** An upstream’s answer, of which the head has come. */
export interface Answer {
  readonly upstream: UpstreamSettings;
  readonly status: number;
  readonly statusText: string;
  readonly headers: readonly string[];
  readonly body: Readable;
}

/** No answer came. */
export class UpstreamFailure extends Error {
  override readonly name = 'UpstreamFailure';
  constructor(
    readonly kind: ProxyFailure,
    message: string,
    readonly upstream: UpstreamSettings,
  ) {
    super(message);
  }
}

export interface Sending {
  readonly target: Target;
  /** Path and query for this upstream. */
  readonly path: string;
  readonly body: Buffer | Readable | null;
  /** Whether the body is another than the client sent. */
  readonly isChanged: boolean;
  /** Whether the answer is read here, so that it must not be compressed. */
  readonly isRead: boolean;
  /** A word for the header `anthropic-beta`; null for none. */
  readonly beta: string | null;
  readonly signal: AbortSignal;
}

const betaHeader = 'anthropic-beta';

/** A list in a header with a word in it, once. */
function withWord(list: string | undefined, word: string): string {
  const words = (list ?? '').split(',').map((one) => one.trim());
  return [...new Set([...words, word])].filter((one) => one !== '').join(',');
}

/** Connections to the model APIs. Redirects are not followed: they are the client’s affair. */
export class Upstreams {
  private readonly agent = new Agent({ allowH2: false, connect: { timeout: 10_000 }, keepAliveTimeout: 4_000 });

  constructor(private readonly credentials: Credentials) {}

  /** Throws UpstreamFailure where no answer comes; what the signal aborts throws what it says. */
  async send(request: ClientRequest, sending: Sending): Promise<Answer> {
    const { target, body, isChanged, isRead, beta, signal } = sending;
    const { upstream } = target;
    const isOwn = this.credentials.isOwn(upstream);
    const path = isOwn ? withoutKey(sending.path) : sending.path;
    const without = (name: string): boolean =>
      name === 'host' ||
      name === 'expect' ||
      (name === 'content-length' && (isChanged || Buffer.isBuffer(body))) ||
      // What is written here is plain.
      (name === 'content-encoding' && isChanged) ||
      (name === 'accept-encoding' && isRead) ||
      (name === betaHeader && beta !== null) ||
      (isOwn && (isCredential(name) || name.startsWith('x-amz-')));
    const added = {
      ...(isRead ? { 'accept-encoding': 'identity' } : {}),
      ...(beta === null ? {} : { [betaHeader]: withWord(request.header(betaHeader), beta) }),
    };
    const headers = forwarded(request.headers, { without, added });
    const { origin, pathname } = new URL(upstream.url);
    const fullPath = `${pathname.replace(/\/$/, '')}${path}`;
    const own = isOwn
      ? await this.credentials.headers(upstream, { method: request.method, url: `${origin}${fullPath}`, body })
      : {};
    for (const [name, value] of Object.entries(own)) headers.push(name, value);
    try {
      const {
        statusCode,
        statusText,
        headers: answered,
        body: answer,
      } = await this.agent.request({
        origin,
        path: fullPath,
        method: request.method,
        headers,
        body,
        signal,
        headersTimeout: upstream.firstByteMs,
        bodyTimeout: upstream.idleMs,
        responseHeaders: 'raw',
      });
      const raw = answered as unknown as readonly string[];
      return { upstream, status: statusCode, statusText, headers: raw, body: answer };
    } catch (error) {
      if (signal.aborted) throw error;
      throw failureOf(error, upstream);
    }
  }

  async close(): Promise<void> {
    await this.agent.destroy();
  }
}

/** The text of the error stays here: it may hold an address of an inner network. */
function failureOf(error: unknown, upstream: UpstreamSettings): UpstreamFailure {
  const isLate = error instanceof errors.HeadersTimeoutError || error instanceof errors.ConnectTimeoutError;
  if (isLate) return new UpstreamFailure('timeout', `The upstream ${upstream.id} did not answer in time.`, upstream);
  const code = (error as { readonly code?: unknown } | null)?.code;
  const about = typeof code === 'string' && /^[A-Z_]+$/.test(code) ? ` (${code})` : '';
  return new UpstreamFailure('unreachable', `The upstream ${upstream.id} could not be reached${about}.`, upstream);
}
