import type { Secret } from './required-settings.js';

/** The proxies of a network, as the variables HTTP_PROXY, HTTPS_PROXY and NO_PROXY name them. */
export interface ProxySettings {
  readonly httpProxy?: string;
  readonly httpsProxy?: string;
  readonly noProxy?: string;
}

/** Reads the variables, in capitals or not. What is no address counts as none. */
export function proxySettings(secret: Secret): ProxySettings {
  const valueOf = (name: string): string | undefined => secret(name) ?? secret(name.toLowerCase());
  const address = (name: string): string | undefined => {
    const value = valueOf(name)?.trim();
    return value !== undefined && /^https?:\/\//i.test(value) && URL.canParse(value) ? value : undefined;
  };
  const [httpProxy, httpsProxy] = [address('HTTP_PROXY'), address('HTTPS_PROXY')];
  if (httpProxy === undefined && httpsProxy === undefined) return {};
  const noProxy = valueOf('NO_PROXY');
  return {
    ...(httpProxy === undefined ? {} : { httpProxy }),
    ...(httpsProxy === undefined ? {} : { httpsProxy }),
    ...(noProxy === undefined ? {} : { noProxy }),
  };
}
