import { modelInputs, modelName, modelProviderEntry, modelProviders } from '@sluice/core';
import type { Configuration, ModelPrice, ModelProvider, ModelSettings } from '@sluice/core';
import { configurationKeys } from './keys.js';
import { readModelOptions } from './model-options.js';
import { describe } from './problems.js';
import { Section } from './section.js';
import { namesVariable, notAVariable } from './variables.js';

const mostPrice = 1_000_000;

const outputTokens = { byDefault: 4_096, most: 1_000_000 } as const;

const mostModels = 8;

/**
 * `model`: one, or a list of which the first is asked first, and the next where it is out of reach or has no
 * capacity.
 */
export function readModels(file: Section): Pick<Configuration, 'model' | 'fallbacks'> {
  const listed = file.value('model');
  if (!Array.isArray(listed)) return { model: readModel(file.section('model')) };
  const items = Array.from<unknown>(listed);
  if (items.length === 0 || items.length > mostModels)
    file.problem(
      file.at('model'),
      `a list of ${String(items.length)}`,
      `one model, or a list of 1 to ${String(mostModels)}`,
    );
  const [model, ...fallbacks] = items.map((item, place) =>
    readModel(new Section(item, file.itemAt('model', place), file.problems)),
  );
  const first = model ?? readModel(new Section(null, file.at('model'), file.problems));
  const names = [first, ...fallbacks].map(modelName);
  names.forEach((name, place) => {
    if (names.indexOf(name) !== place)
      file.problem(file.itemAt('model', place), `${name} once more`, 'another model, or leave it out');
  });
  return fallbacks.length === 0 ? { model: first } : { model: first, fallbacks };
}

/** One model; without any the built-in rules, which need no key. */
function readModel(section: Section): ModelSettings {
  section.closed(configurationKeys.model);
  const provider = section.choice('provider', modelProviders) ?? 'rules';
  const maxOutputTokens = section.wholeNumber('max_output_tokens', outputTokens);
  const settings: ModelSettings = {
    provider,
    name: section.text('name', 'the provider’s name for the model'),
    baseUrl: section.address('base_url'),
    apiKeyEnv: readKeyVariable(section),
    region: section.text('region', 'the name of a region, such as `eu-central-1`'),
    maxOutputTokens,
    ...(section.has('price') ? { price: readPrice(section.section('price')) } : {}),
    ...readBetas(section, provider),
    ...readModelOptions(section, provider, maxOutputTokens),
    ...readInputs(section, provider),
  };
  // A provider that was not understood has been reported; what it needs cannot be known.
  if (!section.has('provider') || section.value('provider') === provider) checkProvider(section, provider);
  return settings;
}

/** `betas`: names that go into a header, so that nothing else may stand in them. */
function readBetas(section: Section, provider: ModelProvider): Pick<ModelSettings, 'betas'> {
  const betas = section.names('betas', 'a list of names, such as `["token-efficient-tools-2025-02-19"]`') ?? [];
  betas.forEach((name, place) => {
    if (!/^[A-Za-z0-9._-]{1,100}$/.test(name))
      section.problem(section.itemAt('betas', place), describe(name), 'a name of letters, digits, dots and dashes');
  });
  if (betas.length > 0 && !modelProviderEntry(provider).settings.includes('betas'))
    section.problem(section.at('betas'), 'a setting of anthropic', '`provider: anthropic`, or leave it out');
  return betas.length === 0 ? {} : { betas };
}

/** `inputs`: what the model reads, in one order whatever is written, so that the version is the same. */
function readInputs(section: Section, provider: ModelProvider): Pick<ModelSettings, 'inputs'> {
  const write = 'a list of `text`, `image` and `pdf`';
  const listed = section.names('inputs', write);
  if (listed === null) return {};
  if (provider === 'rules')
    section.problem(section.at('inputs'), 'a setting of another provider', 'nothing: the built-in rules read text');
  listed.forEach((name, place) => {
    if (!modelInputs.some((one) => one === name))
      section.problem(section.itemAt('inputs', place), describe(name), write);
  });
  return { inputs: modelInputs.filter((one) => one === 'text' || listed.includes(one)) };
}

function checkProvider(section: Section, provider: ModelProvider): void {
  if (provider === 'rules') {
    for (const key of ['name', 'base_url', 'api_key_env', 'price'] as const) {
      if (!section.has(key)) continue;
      const write = section.has('provider')
        ? 'another `provider`, or leave it out: the built-in `rules` take none'
        : 'a `provider` beside it, or leave it out: the built-in rules take none';
      section.problem(section.at(key), 'a setting of another provider', write);
    }
  } else if (!section.has('name')) {
    section.problem(section.at('name'), 'nothing', `the name of a model that ${provider} offers`);
  }
  if (modelProviderEntry(provider).address === 'required' && !section.has('base_url')) {
    section.problem(
      section.at('base_url'),
      'nothing',
      'the address of the endpoint, such as `https://api.openai.com/v1`',
    );
  }
  if (!modelProviderEntry(provider).settings.includes('region') && section.has('region')) {
    section.problem(section.at('region'), 'a setting of bedrock', '`provider: bedrock`, or leave it out');
  }
}

/** Of both directions, since a price of which half is missing would count half the cost. */
function readPrice(section: Section): ModelPrice {
  section.closed(configurationKeys['model.price']);
  const ofCache = (key: 'cached_input' | 'cache_write'): number | null =>
    section.has(key) ? readAmount(section, key) : null;
  const [cachedInput, cacheWrite] = [ofCache('cached_input'), ofCache('cache_write')];
  return {
    ...{ input: readAmount(section, 'input'), output: readAmount(section, 'output') },
    ...(cachedInput === null ? {} : { cachedInput }),
    ...(cacheWrite === null ? {} : { cacheWrite }),
  };
}

function readAmount(section: Section, key: (typeof configurationKeys)['model.price'][number]): number {
  const value = section.value(key);
  const isAmount = typeof value === 'number' && value >= 0 && value <= mostPrice;
  if (section.usable && !isAmount)
    section.refuse(
      key,
      `what a million tokens of ${key.replace('_', ' ')} cost: a number from 0 to ${String(mostPrice)}`,
    );
  return isAmount ? value : 0;
}

/** `api_key_env`: the variable that holds a key. */
export function readKeyVariable(section: Section): string | null {
  const value = section.value('api_key_env');
  if (value === null) return null;
  if (typeof value === 'string' && namesVariable(value)) return value;
  const found = typeof value === 'string' ? notAVariable : 'a value that is not a text';
  section.problem(section.at('api_key_env'), found, 'the name of the environment variable that holds the key');
  return null;
}
