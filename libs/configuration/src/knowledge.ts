import { configurationKeys } from './keys.js';
import type { Section } from './section.js';
import type { KnowledgeSettings } from '@sluice/core';

/** `knowledge`: files for the in-process store, or a SPARQL endpoint instead of it. */
export function readKnowledge(section: Section): KnowledgeSettings {
  section.closed(configurationKeys.knowledge);
  const settings: KnowledgeSettings = {
    load: section.names('load', 'a list of RDF files') ?? [],
    endpoint: section.address('endpoint'),
    updateEndpoint: section.address('update_endpoint'),
  };
  if (section.has('endpoint') && settings.load.length > 0) {
    section.problem(
      section.at('load'),
      'files beside an endpoint',
      'either `load` or `endpoint`: the endpoint is used instead of the in-process store',
    );
  }
  if (section.has('update_endpoint') && !section.has('endpoint')) {
    section.problem(
      section.at('endpoint'),
      'nothing',
      'the address for queries as well, or leave `update_endpoint` out',
    );
  }
  return settings;
}
