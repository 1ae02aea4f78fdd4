import type { ModelSettings } from '@sluice/core';

type Version = Pick<ModelSettings, 'apiVersion'>;

/** Azure wants the version of its API in the address of each request. */
export function withVersion(url: string, { apiVersion }: Version): string {
  return apiVersion === undefined ? url : `${url}?api-version=${encodeURIComponent(apiVersion)}`;
}

/** Azure takes a key in a header of its own; what is in `authorization` it takes for a token of its directory. */
export function keyHeader(key: string, { apiVersion }: Version): Readonly<Record<string, string>> {
  return apiVersion === undefined ? { authorization: `Bearer ${key}` } : { 'api-key': key };
}
