import type { ProxyApi } from '@sluice/core';

/** Why the proxy answers itself. */
export type ProxyFailure = 'no_upstream' | 'unreachable' | 'timeout' | 'broken_off' | 'refused' | 'unreadable';

export const failureStatus: Readonly<Record<ProxyFailure, number>> = {
  no_upstream: 503,
  unreachable: 502,
  timeout: 504,
  broken_off: 502,
  refused: 401,
  unreadable: 400,
};

/** An error as the clients of an API read it. */
export function errorBody(api: ProxyApi, failure: ProxyFailure, message: string): string {
  switch (api) {
    case 'openai':
      return JSON.stringify({ error: { message, type: 'proxy_error', param: null, code: failure } });
    case 'anthropic':
      return JSON.stringify({ type: 'error', error: { type: 'api_error', message } });
    case 'gemini': {
      const code = failureStatus[failure];
      return JSON.stringify({ error: { code, message, status: geminiStatus[code] ?? 'UNAVAILABLE' } });
    }
    case 'bedrock':
      return JSON.stringify({ message });
  }
}

const geminiStatus: Readonly<Record<number, string>> = { 400: 'INVALID_ARGUMENT', 401: 'UNAUTHENTICATED' };
