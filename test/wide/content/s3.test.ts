import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AwsClient } from 'aws4fetch';
import { openS3Content } from '@sluice/content';
import type { S3ContentOptions, StoreOptions } from '@sluice/content';
import { contentContract } from '../../../libs/content/test/contract.js';
import { unusedPort } from '../../../libs/hub/test/unused-port.js';
import { startS3 } from './s3-server.js';
import type { S3Server } from './s3-server.js';

const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
const region = 'us-east-1';
const client = new AwsClient({ ...credentials, service: 's3', region, retries: 0 });
let server: S3Server;
let buckets = 0;

beforeAll(async () => {
  server = await startS3();
}, 400_000);
afterAll(() => server.close());

async function place() {
  const bucket = `content-${++buckets}`;
  const url = `${server.endpoint}/${bucket}`;
  await client.fetch(url, { method: 'PUT' });
  const where = { endpoint: server.endpoint, bucket, region, credentials: () => credentials };
  const names = async (): Promise<readonly string[]> => {
    const text = await (await client.fetch(`${url}?list-type=2`)).text();
    return [...text.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key = '']) => key);
  };
  return {
    where,
    names,
    open: (options: StoreOptions) => openS3Content({ ...where, prefix: 'sluice', ...options }),
    everything: async () => {
      const all = (await names()).map(async (name) => (await client.fetch(`${url}/${name}`)).arrayBuffer());
      return Buffer.concat((await Promise.all(all)).map((bytes) => Buffer.from(bytes)));
    },
    damage: async () => {
      const name = (await names()).find((one) => one.startsWith('sluice/runs/')) ?? '';
      const stored = await client.fetch(`${url}/${name}`);
      const bytes = Buffer.from(await stored.arrayBuffer());
      bytes.writeUInt8(bytes.readUInt8(70_000) ^ 1, 70_000);
      const headers = { 'x-amz-meta-sluice': stored.headers.get('x-amz-meta-sluice') ?? '' };
      await client.fetch(`${url}/${name}`, { method: 'PUT', headers, body: bytes });
    },
    release: () => Promise.resolve(),
  };
}

contentContract('S3', place);

const options = { clock: { now: () => 0 }, keys: [], maxBytes: 1_000 };

describe('a bucket of content', () => {
  it('that is not there is said to be so', async () => {
    const { where } = await place();
    await expect(openS3Content({ ...where, bucket: 'none', ...options })).rejects.toMatchObject({
      code: 'content_unreachable',
      message: expect.stringMatching(/^The bucket none at 127\.0\.0\.1:\d+ does not exist\. Create it/),
    });
  });

  it('out of reach is said to be so', async () => {
    const endpoint = `http://127.0.0.1:${await unusedPort()}`;
    const unreachable: S3ContentOptions = { ...(await place()).where, endpoint, ...options };
    await expect(openS3Content(unreachable)).rejects.toThrow(/127\.0\.0\.1:\d+ refuses connections/);
  });

  it('has all names behind the prefix', async () => {
    const { open, names } = await place();
    const store = await open(options);
    await store.put({ tenantId: 't', runId: 'r' }, 'text/plain', Buffer.from('x'), null);
    await store.check();
    expect((await names()).every((name) => name.startsWith('sluice/'))).toBe(true);
  });
});
