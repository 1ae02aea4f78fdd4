import { randomBytes } from 'node:crypto';
import type { ContentOwner, ContentRef, ContentStore } from '@sluice/core';
import type { Backend, Draft, Mark, Stored } from './backend.js';
import { exchange } from './exchange.js';
import type { Answer } from './exchange.js';
import { codeOf, textOf, unreachable } from './faults.js';
import { isHash, isMarkName, markName, ownerKey, readMark, timeIn, writeMark } from './refs.js';
import { Spool } from './spool.js';
import { storeOn } from './store.js';
import type { StoreOptions } from './store.js';

interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export interface S3ContentOptions extends StoreOptions {
  /** The address of the service, such as that of a region or of a server of your own. */
  readonly endpoint: string;
  readonly bucket: string;
  /** What the names of all objects begin with; none by default. */
  readonly prefix?: string;
  readonly region: string;
  /** Asked for each request, since they may be replaced. */
  credentials(): S3Credentials;
  /** Milliseconds for which the service may neither take nor give anything; 60,000 by default. */
  readonly silentMs?: number;
}

/** Bytes that a key, a mark, a page of a list or an error may have; more than any service gives. */
const longestText = 4_194_304;
/** The header that holds an object's head: an object and what is said of it are one. */
const headHeader = 'x-amz-meta-sluice';

/** Content in a bucket of an S3-compatible service, for any number of processes. The bucket must be there. */
export async function openS3Content(options: S3ContentOptions): Promise<ContentStore> {
  return storeOn(new Bucket(options), options);
}

/** `runs/` has the content, `due/` the marks, which are listed as they fall due. */
class Bucket implements Backend {
  private readonly prefix: string;

  constructor(private readonly options: S3ContentOptions) {
    const { prefix = '' } = options;
    this.prefix = prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`;
  }

  async ownKey(): Promise<Buffer> {
    const there = await this.get('key');
    if (there !== undefined) return this.bytesOf(there);
    // The first of several processes wins; all read what is there then.
    const headers = { 'if-none-match': '*' };
    await this.request('PUT', 'key', { headers, body: randomBytes(32) }, [409, 412]);
    const made = await this.get('key');
    if (made === undefined) throw unreachable(this.name, 'does not keep what is written to it. See its log.', null);
    return this.bytesOf(made);
  }

  begin(): Promise<Draft> {
    const spool = new Spool();
    const local = <T>(work: () => Promise<T>): Promise<T> => this.attempt(work);
    return Promise.resolve({
      append: (bytes: Uint8Array) => local(() => spool.append(bytes)),
      finish: async (ref: ContentRef, head: string, _writtenAt: number, mark: Mark) => {
        await this.mark(mark);
        const headers = { [headHeader]: Buffer.from(head).toString('base64url') };
        await this.put(this.nameOf(ref), headers, spool.body(), spool.length);
        await local(() => spool.close());
      },
      abandon: () => spool.close().catch(() => undefined),
    });
  }

  async find(ref: ContentRef): Promise<Stored | undefined> {
    const answer = await this.request('HEAD', this.nameOf(ref), {}, [404]);
    if (answer.status === 404) return undefined;
    const head = Buffer.from(answer.headers.get(headHeader) ?? '', 'base64url').toString('latin1');
    return { head, read: () => this.read(ref) };
  }

  async list(owner: ContentOwner) {
    const found: (readonly [string, string])[] = [];
    for await (const name of this.names(`runs/${ownerKey(owner)}/`)) {
      const hash = name.slice(name.lastIndexOf('/') + 1);
      const stored = isHash(hash) ? await this.find({ ...owner, hash }) : undefined;
      if (stored !== undefined) found.push([hash, stored.head]);
    }
    return found;
  }

  async remove(ref: ContentRef, writtenUntil: number): Promise<void> {
    const stored = await this.find(ref);
    if (stored === undefined || writtenIn(stored.head) > writtenUntil) return;
    await this.request('DELETE', this.nameOf(ref), {}, [404]);
  }

  async removeAll(owner: ContentOwner): Promise<void> {
    for await (const name of this.names(`runs/${ownerKey(owner)}/`)) await this.request('DELETE', name, {}, [404]);
  }

  async due(now: number, most: number): Promise<readonly Mark[]> {
    const marks: Mark[] = [];
    for await (const name of this.names('due/')) {
      const mark = name.slice('due/'.length);
      if (!isMarkName(mark)) continue;
      if (timeIn(mark) > now || marks.length === most) break;
      const answer = await this.get(name);
      if (answer !== undefined) marks.push(readMark((await this.bytesOf(answer)).toString('utf8')));
    }
    return marks;
  }

  async mark(mark: Mark): Promise<void> {
    await this.request('PUT', `due/${markName(mark)}`, { body: Buffer.from(writeMark(mark)) });
  }

  async unmark(mark: Mark): Promise<void> {
    await this.request('DELETE', `due/${markName(mark)}`, {}, [404]);
  }

  /** An object is there whole, or not at all. */
  tidy(): Promise<void> {
    return Promise.resolve();
  }

  async check(): Promise<void> {
    await this.request('PUT', 'check', { body: Buffer.alloc(0) });
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  private async *read(ref: ContentRef): AsyncIterable<Uint8Array> {
    const answer = await this.get(this.nameOf(ref));
    if (answer === undefined) return;
    try {
      yield* answer.pieces();
    } catch (error) {
      throw unreachable(this.name, `broke off: ${textOf(error)}. Try again.`, error);
    }
  }

  /** The names behind the prefix, in their order. */
  private async *names(beginning: string): AsyncIterable<string> {
    for (let token: string | undefined = ''; token !== undefined;) {
      const query = new URLSearchParams({ 'list-type': '2', prefix: `${this.prefix}${beginning}` });
      if (token !== '') query.set('continuation-token', token);
      const answer = await this.request('GET', null, { query });
      const text = (await this.bytesOf(answer)).toString('utf8');
      for (const [, key = ''] of text.matchAll(/<Key>([^<]*)<\/Key>/g)) yield plain(key).slice(this.prefix.length);
      const next = /<NextContinuationToken>([^<]*)<\/NextContinuationToken>/.exec(text)?.[1];
      token = next === undefined ? undefined : plain(next);
    }
  }

  private async get(name: string): Promise<Answer | undefined> {
    const answer = await this.request('GET', name, {}, [404]);
    return answer.status === 404 ? undefined : answer;
  }

  private put(
    name: string,
    headers: Readonly<Record<string, string>>,
    body: Buffer | AsyncIterable<Uint8Array>,
    length: number,
  ): Promise<Answer> {
    if (Buffer.isBuffer(body)) return this.request('PUT', name, { headers, body });
    return this.request('PUT', name, { headers: { ...headers, 'content-length': String(length) }, body });
  }

  private nameOf(ref: ContentRef): string {
    return `runs/${ownerKey(ref)}/${ref.hash}`;
  }

  private get name(): string {
    return `The bucket ${this.options.bucket} at ${new URL(this.options.endpoint).host}`;
  }

  /** The answer; throws Fault('content_unreachable') unless it succeeded or has one of these statuses. */
  private async request(
    method: string,
    name: string | null,
    { query, headers = {}, body }: RequestParts,
    accepted: readonly number[] = [],
  ): Promise<Answer> {
    const { endpoint, bucket, region, silentMs = 60_000 } = this.options;
    const url = new URL(`${endpoint.replace(/\/+$/, '')}/${bucket}${name === null ? '' : `/${this.prefix}${name}`}`);
    if (query !== undefined) url.search = query.toString();
    const answer = await this.attempt(async () => {
      const { AwsV4Signer } = await import('aws4fetch');
      const signer = new AwsV4Signer({
        method,
        url: url.href,
        headers: { ...headers },
        service: 's3',
        region,
        ...this.options.credentials(),
      });
      const signed = await signer.sign();
      return exchange(signed.url.href, { method, headers: signed.headers, body }, silentMs);
    });
    if (answer.ok || accepted.includes(answer.status)) {
      if (method !== 'GET' || !answer.ok) await answer.drop();
      return answer;
    }
    throw unreachable(this.name, refused(answer.status, await this.bytesOf(answer).then(String, () => '')), null);
  }

  private bytesOf(answer: Answer): Promise<Buffer> {
    return this.attempt(() => answer.bytes(longestText));
  }

  private async attempt<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw unreachable(this.name, complaint(error), error);
    }
  }
}

interface RequestParts {
  readonly query?: URLSearchParams;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | AsyncIterable<Uint8Array>;
}

function writtenIn(head: string): number {
  try {
    return (JSON.parse(head) as { readonly writtenAt: number }).writtenAt;
  } catch {
    return 0;
  }
}

/** Entities of XML, as far as names and tokens of lists have them. */
function plain(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&apos;', "'")
    .replaceAll('&amp;', '&');
}

function refused(status: number, text: string): string {
  // An answer to HEAD has no body, and so no code.
  const code = /<Code>([^<]*)<\/Code>/.exec(text)?.[1] ?? (status === 403 ? 'AccessDenied' : 'no code');
  switch (code) {
    case 'NoSuchBucket':
      return 'does not exist. Create it, or correct its name.';
    case 'AccessDenied':
    case 'InvalidAccessKeyId':
    case 'SignatureDoesNotMatch':
      return `refuses these credentials (${code}). Mend them, or grant them to read, write, list and delete there.`;
    case 'XMinioStorageFull':
    case 'QuotaExceeded':
      return 'has no room left. Free some space; the work goes on by itself.';
    default:
      return status === 507
        ? 'has no room left. Free some space; the work goes on by itself.'
        : `answered with ${status} (${code}). See its log.`;
  }
}

function complaint(error: unknown): string {
  if (codeOf(error) === 'ECONNREFUSED') return 'refuses connections. Start it, or correct its address.';
  if (codeOf(error) === 'ENOSPC') return 'was not reached: the folder for temporary files is full. Free some space.';
  return `cannot be reached: ${textOf(error)}. Look at its address and at the network.`;
}
