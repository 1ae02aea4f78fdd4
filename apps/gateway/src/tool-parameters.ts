import { readParameters } from './run-views/run-parameters.js';

/** The parameters of `GET /v1/tools`, as its description has them. */
export const toolParameters = {
  group: 'The groups, as a request has them, with commas between; absent: `default`.',
  state: 'The state of the run; absent: `undefined`.',
  agent: 'The agent that a request asks; absent: `default`.',
  connections: 'The ids of the connections that tools may use, with commas between; `*` for all, absent: none.',
} as const;

/** Parameters of `GET /v1/specifications/{hash}`. */
export const specificationParameters = {
  config_version:
    'The `config_version` of a record; absent: the configuration in force, or with `request_id` whichever the run names.',
  request_id: 'A run that was offered the tool: finds schemas that bounds of arguments narrowed for its caller, too.',
  ...readParameters,
} as const;
