import {
  configurationParameters,
  configurationViewParameters,
  differenceParameters,
} from '../../../configurations/configuration-query.js';
import { json } from '../../operation.js';
import type { Operation } from '../../operation.js';
import {
  listConfigurationsExample,
  readConfigurationExample,
  compareConfigurationsExample,
  readMatrixExample,
  listFindingsExample,
  checkConfigurationExample,
  applyConfigurationExample,
  explainExample,
  whatIfExample,
} from './examples.js';

const configurationPlace = { config_version: 'The version of the configuration, or `current`.' };

/** Configurations, and what they decide. */
export const configurationOperations: readonly Operation[] = [
  {
    ...{
      id: 'listConfigurations',
      client: 'configurations.list',
      who: 'operator',
      method: 'get',
      path: '/v1/configurations',
      tag: 'Configurations',
    },
    summary: 'List configurations',
    description: 'Every configuration that was put in force, the newest first. For operators.',
    query: configurationParameters,
    answers: json('ConfigurationList', 'A page of configurations.'),
    example: listConfigurationsExample,
    refusals: [400, 401, 403, 500, 503],
  },
  {
    ...{
      id: 'readConfiguration',
      client: 'configurations.get',
      who: 'operator',
      method: 'get',
      path: '/v1/configurations/{config_version}',
      tag: 'Configurations',
    },
    summary: 'Read a configuration',
    description: 'Its groups, states, tools and agents, and each rule in words. For operators.',
    places: configurationPlace,
    query: configurationViewParameters,
    answers: json('ConfigurationView', 'The configuration.'),
    example: readConfigurationExample,
    refusals: [400, 401, 403, 404, 500, 503],
  },
  {
    ...{
      id: 'compareConfigurations',
      client: 'configurations.diff',
      who: 'operator',
      method: 'get',
      path: '/v1/configurations/{config_version}/diff',
      tag: 'Configurations',
    },
    summary: 'Compare two configurations',
    description: 'What the configuration has otherwise than another one, with before and after. For operators.',
    places: configurationPlace,
    query: differenceParameters,
    answers: json('ConfigurationDifferences', 'The changes.'),
    example: compareConfigurationsExample,
    refusals: [400, 401, 403, 404, 500, 503],
  },
  {
    ...{
      id: 'readMatrix',
      client: 'configurations.matrix',
      who: 'operator',
      method: 'get',
      path: '/v1/configurations/{config_version}/matrix',
      tag: 'Configurations',
    },
    summary: 'See which tools each group offers in each state',
    description: 'For each group and state the tools that a run is offered, before rules about more than that. For operators.', // prettier-ignore
    places: configurationPlace,
    answers: json('GroupStateMatrix', 'The matrix.'),
    example: readMatrixExample,
    refusals: [401, 403, 404, 500, 503],
  },
  {
    ...{
      id: 'listFindings',
      client: 'configurations.findings',
      who: 'operator',
      method: 'get',
      path: '/v1/configurations/{config_version}/findings',
      tag: 'Configurations',
    },
    summary: 'List what is worth knowing of a configuration',
    description: 'Dead ends, tools that no run reaches, tools without an approval and others. For operators.',
    places: configurationPlace,
    answers: json('FindingList', 'The findings.'),
    example: listFindingsExample,
    refusals: [401, 403, 404, 500, 503],
  },
  {
    ...{
      id: 'checkConfiguration',
      client: 'configurations.check',
      isRepeatable: true,
      who: 'operator',
      method: 'post',
      path: '/v1/configurations/check',
      tag: 'Configurations',
    },
    summary: 'Check a candidate',
    description:
      'Compiles a text and says what is wrong with it and where. Nothing is stored, and no server is asked: MCP tools count as the configuration in force has them. For operators.',
    body: 'Candidate',
    answers: json('CheckedCandidate', 'Problems and findings.'),
    example: checkConfigurationExample,
    refusals: [400, 401, 403, 413, 415, 500, 503],
  },
  {
    ...{
      id: 'applyConfiguration',
      client: 'configurations.apply',
      who: 'operator',
      method: 'post',
      path: '/v1/configurations',
      tag: 'Configurations',
    },
    summary: 'Put a candidate in force',
    description:
      'On the embedded log, and only what says who may use what and when; all else is for `sluice config apply`. A conflict says why it is not applied. For operators.',
    body: 'ApplyRequest',
    answers: json('AppliedCandidate', 'It is in force.'),
    example: applyConfigurationExample,
    refusals: [400, 401, 403, 409, 413, 415, 422, 500, 503],
  },
  {
    ...{
      id: 'explain',
      client: 'configurations.explain',
      isRepeatable: true,
      who: 'operator',
      method: 'post',
      path: '/v1/explain',
      tag: 'Configurations',
    },
    summary: 'See each tool’s verdict for a caller',
    description:
      'Whether each tool is offered to a request of this caller, every reason why not, and what would open it, by the configuration in force or a candidate. For operators.',
    body: 'ExplainRequest',
    answers: json('Explanation', 'The verdicts.'),
    example: explainExample,
    refusals: [400, 401, 403, 413, 415, 422, 500, 503],
  },
  {
    ...{
      id: 'whatIf',
      client: 'configurations.whatIf',
      isRepeatable: true,
      who: 'operator',
      method: 'post',
      path: '/v1/what-if',
      tag: 'Configurations',
    },
    summary: 'See which recorded decisions a candidate would make otherwise',
    description:
      'Makes the decisions of the last day, or of another time, again under a candidate, from the records, and lists those that would be others. No tool runs and no model is asked. For operators.',
    body: 'WhatIfRequest',
    answers: {
      200: {
        meaning: 'What would be otherwise.',
        json: 'WhatIf',
        others: {
          'text/event-stream':
            'The same as it is found, as data of the assistant transport format: `progress`, each `decision`, and the `summary` (docs/http.md).',
        },
      },
    },
    example: whatIfExample,
    refusals: [400, 401, 403, 413, 415, 422, 500, 503],
  },
];
