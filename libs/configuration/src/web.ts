import { configurationKeys } from './keys.js';
import { describe } from './problems.js';
import type { Section } from './section.js';
import { webSearchProviders } from '@sluice/core';
import type { WebSearchSettings, WebSettings } from '@sluice/core';

/** The variable with each provider’s key, where the configuration names no other. */
const keyVariables = { tavily: 'TAVILY_API_KEY', brave: 'BRAVE_API_KEY', searxng: null } as const;

/** `web`: which search there is, and which hosts beside the public internet may be fetched from. */
export function readWeb(section: Section): { readonly web?: WebSettings } {
  section.closed(configurationKeys.web);
  const privateHosts = section.names('private_hosts', 'a list of hosts') ?? [];
  privateHosts.forEach((host, at) => {
    if (!/^[A-Za-z0-9.-]+(:\d{1,5})?$|^\[[0-9a-fA-F:]+\](:\d{1,5})?$/.test(host))
      section.problem(section.itemAt('private_hosts', at), describe(host), 'a host such as `intranet.example:8080`');
  });
  const search = section.has('search') ? readSearch(section.section('search')) : null;
  return search === null && privateHosts.length === 0 ? {} : { web: { search, privateHosts } };
}

function readSearch(section: Section): WebSearchSettings | null {
  section.closed(configurationKeys['web.search']);
  const provider = section.choice('provider', webSearchProviders);
  const url = section.address('url');
  const apiKeyEnv = section.text('api_key_env', 'the name of an environment variable');
  if (provider === null) {
    if (!section.has('provider')) section.problem(section.at('provider'), 'nothing', webSearchProviders.join(', '));
    return null;
  }
  if (provider === 'searxng' && !section.has('url'))
    section.problem(section.at('url'), 'nothing', 'the address of your SearXNG, such as `http://localhost:8080`');
  return { provider, url, apiKeyEnv: apiKeyEnv ?? keyVariables[provider] };
}
