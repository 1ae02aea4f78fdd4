import type { Readable } from 'node:stream';
import type { UpstreamSettings } from '@sluice/core';
import { keyHeader } from '@sluice/proxy';

/** Sluice’s own credentials for upstreams, read at the moment of use. */
export class Credentials {
  constructor(private readonly secret: (variable: string) => string | undefined) {}

  /** Whether requests go out with Sluice’s credential instead of the client’s. */
  isOwn({ apiKeyEnv, region }: UpstreamSettings): boolean {
    return apiKeyEnv !== null || region !== null;
  }

  /** Headers that say who asks. Throws an Error that names the variable which is not set. */
  async headers(
    upstream: UpstreamSettings,
    request: { readonly method: string; readonly url: string; readonly body: Buffer | Readable | null },
  ): Promise<Readonly<Record<string, string>>> {
    if (upstream.apiKeyEnv !== null) return keyHeader(upstream.api, this.required(upstream.apiKeyEnv));
    const { AwsV4Signer } = await import('aws4fetch');
    const sessionToken = this.secret('AWS_SESSION_TOKEN');
    const signer = new AwsV4Signer({
      url: request.url,
      method: request.method,
      headers: {},
      service: 'bedrock',
      region: upstream.region ?? '',
      accessKeyId: this.required('AWS_ACCESS_KEY_ID'),
      secretAccessKey: this.required('AWS_SECRET_ACCESS_KEY'),
      ...(Buffer.isBuffer(request.body) ? { body: new Uint8Array(request.body) } : {}),
      ...(sessionToken === undefined ? {} : { sessionToken }),
    });
    const { headers } = await signer.sign();
    return Object.fromEntries([...headers].filter(([name]) => name === 'authorization' || name.startsWith('x-amz-')));
  }

  private required(variable: string): string {
    const value = this.secret(variable);
    if (value === undefined)
      throw new Error(`The variable ${variable} is not set: the proxy has no key for an upstream.`);
    return value;
  }
}
