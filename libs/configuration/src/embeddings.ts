import { embeddingProviders } from '@sluice/core';
import type { EmbeddingSettings } from '@sluice/core';
import { readDuration } from './duration.js';
import { configurationKeys } from './keys.js';
import { readKeyVariable } from './model.js';
import type { Section } from './section.js';

const patience = { byDefault: 500, most: 60_000 } as const;

/** `embeddings`: the model whose vectors the strategy `hybrid` compares. */
export function readEmbeddings(section: Section): EmbeddingSettings {
  section.closed(configurationKeys['pipes.tool_discovery.embeddings']);
  const provider = section.choice('provider', embeddingProviders) ?? 'local';
  const settings = {
    provider,
    name: section.text('name', 'the provider’s name for the model'),
    baseUrl: section.address('base_url'),
    apiKeyEnv: readKeyVariable(section),
    region: section.text('region', 'the name of a region, such as `eu-central-1`'),
    folder: section.text('folder', 'the folder that holds `model.onnx`'),
    timeoutMs: readDuration(section, 'timeout', patience),
  };
  const needed = provider === 'local' ? 'folder' : 'name';
  if (!section.has(needed))
    section.problem(
      section.at(needed),
      'nothing',
      needed === 'folder'
        ? 'the folder that holds `model.onnx`, as docs/discovery.md says'
        : `the name of an embedding model that ${provider} offers`,
    );
  if (provider === 'openai-compatible' && !section.has('base_url'))
    section.problem(
      section.at('base_url'),
      'nothing',
      'the address of the endpoint, such as `https://api.openai.com/v1`',
    );
  return settings;
}
