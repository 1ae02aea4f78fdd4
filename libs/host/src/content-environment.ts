import type { Variables } from './variables.js';

/** Where content is, and what it is sealed with. */
export interface ContentEnvironment {
  /** A bucket, SLUICE_CONTENT_BUCKET; null for the ledger's PostgreSQL, or a folder where there is none. */
  readonly bucket: ContentBucket | null;
  /** Bytes that one piece may have. SLUICE_CONTENT_BYTES, default 10 MB. */
  readonly maxBytes: number;
  /** Keys that seal content, SLUICE_CONTENT_KEYS; null for none. Asked for when the store is opened. */
  keys(): string | null;
}

interface ContentBucket {
  readonly endpoint: string;
  readonly bucket: string;
  readonly prefix: string;
  readonly region: string;
  credentials(): { readonly accessKeyId: string; readonly secretAccessKey: string; readonly sessionToken?: string };
}

const defaultBytes = 10_000_000;
const mostBytes = 1_000_000_000;

/** As no variable says anything. */
export const contentByDefault: ContentEnvironment = { bucket: null, maxBytes: defaultBytes, keys: () => null };

/** Throws an Error whose sentence names the variable and what it should hold. */
export function readContent(variables: Variables): ContentEnvironment {
  return {
    bucket: readBucket(variables),
    maxBytes: variables.integer('SLUICE_CONTENT_BYTES', defaultBytes, 1, mostBytes),
    keys: () => variables.secret('SLUICE_CONTENT_KEYS') ?? null,
  };
}

function readBucket(variables: Variables): ContentBucket | null {
  const text = variables.text('SLUICE_CONTENT_BUCKET');
  if (text === undefined) return null;
  const url = URL.canParse(text) ? new URL(text) : null;
  const [bucket = '', ...prefix] = url?.pathname.slice(1).split('/') ?? [];
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.search !== '' || bucket === '')
    throw new Error(
      `SLUICE_CONTENT_BUCKET${url?.username ? '' : ` is "${text}"; it`} must be the address of a bucket, without credentials, and of a folder in it if you like, such as https://s3.example.com/bucket/folder.`,
    );
  return {
    ...{ endpoint: url.origin, bucket, prefix: prefix.join('/') },
    region: variables.text('AWS_REGION') ?? 'us-east-1',
    credentials: () => {
      const sessionToken = variables.secret('AWS_SESSION_TOKEN');
      return {
        accessKeyId: required(variables, 'AWS_ACCESS_KEY_ID'),
        secretAccessKey: required(variables, 'AWS_SECRET_ACCESS_KEY'),
        ...(sessionToken === undefined ? {} : { sessionToken }),
      };
    },
  };
}

function required(variables: Variables, name: string): string {
  const value = variables.secret(name);
  if (value !== undefined) return value;
  throw new Error(`${name} is not set. SLUICE_CONTENT_BUCKET names a bucket, which wants credentials.`);
}
