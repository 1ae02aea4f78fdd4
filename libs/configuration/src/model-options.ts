import { modelProviderEntry, modelProviders, reasoningEfforts, samplingLimits } from '@sluice/core';
import type { ModelProvider, ModelSettings, ProviderSetting } from '@sluice/core';
import { describe } from './problems.js';
import type { Section } from './section.js';

type Options = Pick<
  ModelSettings,
  'temperature' | 'topP' | 'stop' | 'seed' | 'reasoningEffort' | 'thinkingTokens' | 'headers' | 'apiVersion'
>;

/** Of these a model has what its provider’s wire has a word for. */
const options = [
  'temperature',
  'top_p',
  'stop',
  'seed',
  'reasoning_effort',
  'thinking_tokens',
  'headers',
  'api_version',
] as const satisfies readonly ProviderSetting[];

const mostHeaders = 20;

/** Headers that Sluice or the connection sets itself, or that hold a key. */
const ownHeaders =
  /^(?:authorization|proxy-.*|x-api-key|api-key|x-goog-api-key|x-amz-.*|cookie|host|content-.*|transfer-encoding|connection|anthropic-version|anthropic-beta)$/i;

/**
 * What a model is asked for beside its turn. A setting that is not written adds nothing, so that its configuration
 * keeps its version.
 */
export function readModelOptions(section: Section, provider: ModelProvider, maxOutputTokens: number): Options {
  for (const key of options)
    if (section.has(key) && !modelProviderEntry(provider).settings.includes(key)) {
      const write = `\`provider: ${providersWith(key).join('` or `')}\`, or leave it out`;
      section.problem(section.at(key), `a setting that ${provider} has no word for`, write);
    }
  const number = (key: 'temperature' | 'top_p', most: number): number | null => {
    const value = section.value(key);
    if (value === null || (typeof value === 'number' && value >= 0 && value <= most)) return value;
    return section.refuse(key, `a number from 0 to ${String(most)}`);
  };
  const whole = (key: 'seed' | 'thinking_tokens', most: number): number | null =>
    section.has(key) ? section.wholeNumber(key, { byDefault: 0, least: 0, most }) : null;
  const [temperature, topP] = [number('temperature', 2), number('top_p', 1)];
  const stop = section.names('stop', 'a list of texts, such as `["END"]`') ?? [];
  if (stop.length > samplingLimits.stops)
    section.problem(section.at('stop'), describe(stop), `at most ${String(samplingLimits.stops)} texts`);
  const seed = whole('seed', 2_147_483_647);
  const effort = section.choice('reasoning_effort', reasoningEfforts);
  const thinking = whole('thinking_tokens', 1_000_000);
  const { leastThinking } = modelProviderEntry(provider);
  if (thinking !== null && leastThinking !== undefined)
    checkThinking(section, thinking, leastThinking, maxOutputTokens);
  const headers = readHeaders(section);
  const apiVersion = section.text('api_version', 'the version of Azure’s API, such as `"2024-10-21"`');
  return {
    ...(temperature === null ? {} : { temperature }),
    ...(topP === null ? {} : { topP }),
    ...(stop.length === 0 ? {} : { stop }),
    ...(seed === null ? {} : { seed }),
    ...(effort === null ? {} : { reasoningEffort: effort }),
    ...(thinking === null ? {} : { thinkingTokens: thinking }),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...(apiVersion === null ? {} : { apiVersion }),
  };
}

/** What Anthropic's models refuse of a request in which they think. */
function checkThinking(section: Section, tokens: number, leastThinking: number, maxOutputTokens: number): void {
  if (tokens < leastThinking || tokens >= maxOutputTokens) {
    const write = `at least ${String(leastThinking)} and less than max_output_tokens, which is ${String(maxOutputTokens)} and holds both thoughts and answer`;
    section.problem(section.at('thinking_tokens'), `the number ${String(tokens)}`, write);
  }
  for (const key of ['temperature', 'top_p'] as const)
    if (section.has(key))
      section.problem(
        section.at(key),
        '`' + key + '` beside `thinking_tokens`',
        'one of the two: a model that thinks takes no other value',
      );
}

function readHeaders(section: Section): Readonly<Record<string, string>> {
  const written = section.section('headers');
  const names = written.keys();
  if (names.length > mostHeaders)
    section.problem(section.at('headers'), `${String(names.length)} headers`, `at most ${String(mostHeaders)}`);
  const entries = names.flatMap((name): (readonly [string, string])[] => {
    const value = written.value(name);
    if (!/^[A-Za-z0-9-]{1,100}$/.test(name))
      written.problem(written.at(name), 'a name that no header has', 'letters, digits and dashes');
    else if (ownHeaders.test(name))
      written.problem(
        written.at(name),
        'a header that is set already, or holds a key',
        'another one; a key goes by `api_key_env`',
      );
    else if (typeof value !== 'string' || !/^[\x20-\x7e]{1,1000}$/.test(value))
      written.problem(written.at(name), 'a value that no header has', 'a text in ASCII, in one line');
    else return [[name.toLowerCase(), value]];
    return [];
  });
  return Object.fromEntries(entries);
}

/** The providers whose models have the setting. */
function providersWith(setting: ProviderSetting): readonly ModelProvider[] {
  return modelProviders.filter((provider) => modelProviderEntry(provider).settings.includes(setting));
}
