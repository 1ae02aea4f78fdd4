import { configurationKeys } from './keys.js';
import { readKeyVariable } from './model.js';
import { proxyApis, quote, suggestion, unknownToolChoices } from '@sluice/core';
import type { ProxyModel, ProxySettings, UpstreamSettings } from '@sluice/core';
import type { Section } from './section.js';

const upstreamSeconds = {
  timeout_seconds: { byDefault: 300, most: 3_600 },
  idle_seconds: { byDefault: 300, most: 3_600 },
} as const;

/** `proxy`: which model APIs the proxy forwards to; null where the section is absent. */
export function readProxy(file: Section): ProxySettings | null {
  if (!file.has('proxy')) return null;
  const section = file.section('proxy').closed(configurationKeys.proxy);
  const listed = section.section('upstreams');
  const upstreams = listed.keys().flatMap((id) => readUpstream(id, listed.section(id)) ?? []);
  const named = section.section('models');
  const models = named.keys().map((name) => readModel(name, named.section(name), upstreams));
  if (section.usable && listed.keys().length === 0)
    section.problem(section.at('upstreams'), 'nothing', 'at least one model API that the proxy forwards to');
  checkApis(named, models, upstreams);
  return { upstreams, models, unknownTools: section.choice('unknown_tools', unknownToolChoices) ?? 'pass' };
}

function readUpstream(id: string, section: Section): UpstreamSettings | null {
  if (!section.usable) return null;
  section.closed(configurationKeys['proxy.upstreams.<upstream>']);
  const api = section.choice('api', proxyApis);
  if (api === null && !section.has('api'))
    section.problem(section.at('api'), 'nothing', `which API it speaks: ${proxyApis.join(', ')}`);
  const url = section.address('url');
  if (url === null && !section.has('url'))
    section.problem(section.at('url'), 'nothing', 'its address, such as `https://api.openai.com`');
  const region = section.text('region', 'the name of a region, such as `eu-central-1`');
  if (region !== null && api !== null && api !== 'bedrock')
    section.problem(section.at('region'), 'a setting of bedrock', '`api: bedrock`, or leave it out');
  const paths = section.names('paths', 'a list of paths such as `/v1/chat`') ?? [];
  paths.forEach((path, at) => {
    if (!path.startsWith('/')) section.problem(section.itemAt('paths', at), quote(path), 'a path that begins with `/`');
  });
  return {
    id,
    api: api ?? 'openai',
    url: (url ?? '').replace(/\/+$/, ''),
    models: section.names('models', 'a list of names of models, such as `gpt-*`') ?? [],
    paths,
    apiKeyEnv: readKeyVariable(section),
    region,
    firstByteMs: section.wholeNumber('timeout_seconds', upstreamSeconds.timeout_seconds) * 1_000,
    idleMs: section.wholeNumber('idle_seconds', upstreamSeconds.idle_seconds) * 1_000,
  };
}

function readModel(name: string, section: Section, upstreams: readonly UpstreamSettings[]): ProxyModel {
  section.closed(configurationKeys['proxy.models.<model>']);
  const upstream = section.text('upstream', 'the name of one of `proxy.upstreams`');
  const ids = upstreams.map(({ id }) => id);
  if (upstream !== null && !ids.includes(upstream))
    section.unknown(section.at('upstream'), 'upstream', upstream, suggestion(upstream, ids));
  return {
    name,
    upstream,
    model: section.text('name', 'the upstream’s name for the model'),
    fallback: section.names('fallback', 'a list of names of models') ?? [],
  };
}

/** A request of one API cannot be sent to another: the bodies differ. */
function checkApis(section: Section, models: readonly ProxyModel[], upstreams: readonly UpstreamSettings[]): void {
  const apiOf = (name: string): string | undefined => {
    const upstream = models.find((model) => model.name === name)?.upstream;
    return upstreams.find(({ id }) => id === upstream)?.api;
  };
  for (const { name, fallback } of models) {
    const own = apiOf(name);
    fallback.forEach((other, at) => {
      const api = apiOf(other);
      if (own !== undefined && api !== undefined && own !== api)
        section.problem(
          section.section(name).itemAt('fallback', at),
          `${quote(other)}, which speaks ${api}`,
          `a model of an upstream that speaks ${own}`,
        );
    });
  }
}
