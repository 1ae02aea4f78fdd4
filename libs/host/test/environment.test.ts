import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { readEnvironment } from '@sluice/host';

const kafka = { SLUICE_BUS: 'kafka', KAFKA_BROKERS: 'a:9092, b:9092', SCHEMA_REGISTRY_URL: 'http://localhost:8081' };

const database = { DATABASE_URL: 'postgres://u:p@a/sluice' };

describe('how long topics are kept', () => {
  const day = 24 * 3_600_000;
  const read = (values: Record<string, string>) => readEnvironment(values).retention;

  it('is for ever on the embedded log, but for progress, unless configured otherwise', () => {
    expect(read({})).toMatchObject({ 'agent.steps': { ms: -1 }, 'agent.progress': { ms: 3_600_000 } });
    const said = read({
      SLUICE_RETENTION_HOURS: '48',
      SLUICE_RETENTION: 'agent.steps=30d/20gb, agent.audit=90d,agent.requests=forever',
    });
    expect(said).toEqual({
      ...Object.fromEntries(Object.keys(said).map((topic) => [topic, { ms: 2 * day, bytes: null }])),
      'agent.steps': { ms: 30 * day, bytes: 20 * 1024 ** 3 },
      'agent.audit': { ms: 90 * day, bytes: null },
      'agent.requests': { ms: -1, bytes: null },
      'agent.progress': { ms: 3_600_000, bytes: null },
      'agent.config': { ms: -1, bytes: null },
    });
  });

  it.each([
    ['agent.nothing=3d', 'holds "agent.nothing=3d"; write topic=age or topic=age/size'],
    ['agent.steps', 'holds "agent.steps"; write topic=age'],
    ['agent.steps=3', 'an age is forever, or a number of m, h or d'],
    ['agent.steps=0d', 'an age is forever, or a number of m, h or d'],
    ['agent.steps=3d/9', 'a size is a number of mb, gb or tb'],
    ['agent.config=3d', 'names agent.config, which is kept for ever'],
  ])('%s is refused with a sentence', (text, message) => {
    expect(() => read({ SLUICE_RETENTION: text })).toThrow(message);
  });
});

describe('how long what sessions leave behind is kept', () => {
  it.each([
    ['30 days on Kafka', kafka, 30 * 24 * 3_600_000],
    ['for ever on the embedded log', {}, null],
    ['as many days as are said', { SLUICE_SESSION_DAYS: '2' }, 2 * 24 * 3_600_000],
    ['for ever with 0', { ...kafka, SLUICE_SESSION_DAYS: '0' }, null],
  ])('is %s', (_, values, ms) => expect(readEnvironment(values).sessionsKeptMs).toBe(ms));
});

describe('the environment', () => {
  it('has a default for everything on the embedded log', () => {
    expect(readEnvironment({})).toMatchObject({
      bus: 'sqlite',
      kafka: null,
      databaseUrl: null,
      claimDatabases: [],
      host: '127.0.0.1',
      port: 8090,
      httpPort: 8091,
      httpRequestsPerMinute: 0,
      httpOrigins: [],
      mcpPort: 8093,
      mcpCallsPerMinute: 600,
      logLevel: 'info',
      drainMs: 10_000,
    });
  });

  it('reads a cluster', () => {
    expect(readEnvironment(kafka).kafka).toEqual({
      brokers: ['a:9092', 'b:9092'],
      prefix: '',
      tls: null,
      sasl: null,
      registry: { url: 'http://localhost:8081' },
      partitions: 6,
      replication: 1,
    });
  });

  it('reads databases of claims, one a word, and names them by what a new password does not change', () => {
    const words = ['b=postgres://u:p@b:6432/claims', 'postgres://u:hunter2@c/claims?sslmode=require'];
    expect(readEnvironment({ ...database, SLUICE_LEDGER: words.join('\n') }).claimDatabases).toEqual([
      { name: 'b', url: 'postgres://u:p@b:6432/claims' },
      { name: 'c:5432/claims', url: words[1] },
    ]);
  });

  it('takes a secret from a file', () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-env-'));
    const file = join(folder, 'password');
    writeFileSync(file, 'hunter2\n');
    const sasl = { KAFKA_SASL_MECHANISM: 'scram-sha-512', KAFKA_SASL_USERNAME: 'u', KAFKA_SASL_PASSWORD_FILE: file };
    expect(readEnvironment({ ...kafka, ...sasl }).kafka?.sasl).toEqual({
      mechanism: 'scram-sha-512',
      username: 'u',
      password: 'hunter2',
    });
    expect(readEnvironment({ OPENAI_API_KEY_FILE: file }).secret('OPENAI_API_KEY')).toBe('hunter2');
    rmSync(folder, { recursive: true });
  });

  it('gives a child the few variables every program needs and the named ones, and no others', () => {
    expect(readEnvironment({ PATH: '/bin', SECRET: 'x', WANTED: 'y' }).forChild(['WANTED'])).toEqual({
      PATH: '/bin',
      WANTED: 'y',
    });
  });

  it('gets a new name each time', () => expect(readEnvironment({}).instance).not.toBe(readEnvironment({}).instance));

  it.each([
    [{ SLUICE_PORT: 'eighty' }, /SLUICE_PORT is "eighty"; it must be a whole number from 0 to 65535/],
    [{ SLUICE_LOG_LEVEL: 'loud' }, /SLUICE_LOG_LEVEL is "loud"; it must be one of fatal, error/],
    [{ SLUICE_BUS: 'rabbit' }, /SLUICE_BUS is "rabbit"; it must be one of sqlite, kafka/],
    [{ SLUICE_BUS: 'kafka' }, /KAFKA_BROKERS is not set/],
    [{ ...kafka, KAFKA_BROKERS: 'localhost' }, /KAFKA_BROKERS holds "localhost"; each broker is host:port/],
    [{ ...kafka, SCHEMA_REGISTRY_URL: '' }, /SCHEMA_REGISTRY_URL is not set/],
    [{ ...kafka, SCHEMA_REGISTRY_URL: 'http://user:pw@host' }, /hold no user or password/],
    [{ ...kafka, SLUICE_PREFIX: 'a/b' }, /SLUICE_PREFIX is "a\/b"/],
    [{ ...kafka, KAFKA_SASL_MECHANISM: 'plain' }, /KAFKA_SASL_USERNAME is not set/],
    [{ ...kafka, KAFKA_SASL_MECHANISM: 'plain', KAFKA_SASL_USERNAME: 'u' }, /KAFKA_SASL_PASSWORD is not set/],
    [
      { ...kafka, KAFKA_TLS_CA: '/nonexistent/ca.pem' },
      /KAFKA_TLS_CA names the file \/nonexistent\/ca.pem, which cannot be read/,
    ],
    [{ SLUICE_LEDGER: 'postgres://b/claims' }, /beside that of DATABASE_URL, which is not set/],
    [{ ...database, SLUICE_LEDGER: 'mysql://u:hunter2@b/c' }, /^(?!.*hunter2).*SLUICE_LEDGER: entry 1 is no address/],
    [{ ...database, SLUICE_LEDGER: 'first=postgres://b/claims' }, /“first” is no name for one/],
    [{ ...database, SLUICE_LEDGER: 'b=postgres://x@a:5432/sluice' }, /entry 1 is what DATABASE_URL names too/],
    [{ ...database, SLUICE_LEDGER: 'b=postgres://b/c b=postgres://c/c' }, /entry 2 is what entry 1 names too/],
    [{ DATABASE_URL_FILE: '/nonexistent/url' }, /DATABASE_URL_FILE names the file/],
  ])('says what is wrong with %j', (values, sentence) => expect(() => readEnvironment(values)).toThrow(sentence));
});

describe('where content is', () => {
  const read = (values: Record<string, string>) => readEnvironment(values).content;

  it('is a bucket where one is named, with a folder in it', () => {
    const secrets = { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b', AWS_REGION: 'eu-central-1' };
    const bucket = read({ SLUICE_CONTENT_BUCKET: 'https://s3.example.com/bucket/a/b', ...secrets })?.bucket;
    expect(bucket).toMatchObject({
      ...{ endpoint: 'https://s3.example.com', bucket: 'bucket', prefix: 'a/b', region: 'eu-central-1' },
    });
    expect(bucket?.credentials()).toEqual({ accessKeyId: 'a', secretAccessKey: 'b' });
    expect(read({})).toMatchObject({ bucket: null, maxBytes: 10_000_000 });
  });

  it.each(['s3://bucket', 'https://s3.example.com', 'bucket', 'https://me:pw@s3.example.com/bucket'])(
    'is not %s, and a sentence says what is',
    (address) => {
      expect(() => read({ SLUICE_CONTENT_BUCKET: address })).toThrow(/must be the address of a bucket/);
    },
  );

  it('wants credentials when it is used', () => {
    const bucket = read({ SLUICE_CONTENT_BUCKET: 'https://s3.example.com/bucket' })?.bucket;
    expect(() => bucket?.credentials()).toThrow('AWS_ACCESS_KEY_ID is not set.');
  });
});
