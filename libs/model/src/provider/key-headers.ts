import type { CountingProvider } from '@sluice/core';

/** What carries the key, for the model and for the count of tokens. */
export const keyHeaders: Readonly<Record<CountingProvider, (key: string) => Readonly<Record<string, string>>>> = {
  anthropic: (key) => ({ 'x-api-key': key, 'anthropic-version': '2023-06-01' }),
  google: (key) => ({ 'x-goog-api-key': key }),
};
