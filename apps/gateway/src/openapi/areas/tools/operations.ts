import { sessionParameters, stepParameters } from '../../../lists/list-query.js';
import { specificationParameters, toolParameters } from '../../../tool-parameters.js';
import { json } from '../../operation.js';
import type { Operation } from '../../operation.js';
import {
  listSessionsExample,
  listStepsExample,
  listToolsExample,
  tryToolsetExample,
  readSpecificationExample,
  listGroupsExample,
  recommendGroupsExample,
  readGroupExample,
  listStatesExample,
} from './examples.js';

/** Sessions, tools, groups and states. */
export const toolOperations: readonly Operation[] = [
  {
    ...{
      id: 'listSessions',
      client: 'sessions.list',
      who: 'caller',
      method: 'get',
      path: '/v1/sessions',
      tag: 'Sessions',
      summary: 'List one’s sessions',
    },
    query: sessionParameters,
    answers: json('SessionList', 'A page of sessions.'),
    example: listSessionsExample,
    refusals: [400, 401, 403, 500, 503],
  },
  {
    ...{
      id: 'listSteps',
      client: 'sessions.steps',
      who: 'caller',
      method: 'get',
      path: '/v1/sessions/{session_id}/steps',
      tag: 'Sessions',
    },
    summary: 'List the steps of a session’s runs',
    places: { session_id: 'Names the session.' },
    query: stepParameters,
    answers: json('StepList', 'The steps.'),
    example: listStepsExample,
    refusals: [400, 401, 403, 500, 503],
  },
  {
    ...{
      id: 'listTools',
      client: 'tools.list',
      who: 'asker',
      method: 'get',
      path: '/v1/tools',
      tag: 'Tools',
      summary: 'List what a run is offered',
      isTagged: true,
    },
    query: toolParameters,
    answers: json('ToolList', 'The tools.'),
    example: listToolsExample,
    refusals: [400, 401, 403, 500, 503],
  },
  {
    ...{
      id: 'tryToolset',
      client: 'tools.tryToolset',
      isRepeatable: true,
      who: 'asker',
      method: 'post',
      path: '/v1/toolsets',
      tag: 'Tools',
    },
    summary: 'See what a request would be offered',
    description:
      'The first decision about the request, as it would be made now, and what its `call` would come to. Nothing is published, and no run begins.',
    body: 'AgentRequest',
    answers: json('TriedToolset', 'The tools.'),
    example: tryToolsetExample,
    refusals: [400, 401, 403, 413, 415, 500, 503],
  },
  {
    ...{
      id: 'readSpecification',
      client: 'tools.specification',
      who: 'asker',
      method: 'get',
      path: '/v1/specifications/{hash}',
      tag: 'Tools',
    },
    summary: 'Read what a tool takes, by the hash of its schema',
    description:
      'Records name the tools of a turn with their hashes; what each of them takes stands here, as the configuration in force or the one that is named has it. A schema that bounds of arguments narrowed for the caller of a run is found with `request_id`, by who may read the run.',
    places: { hash: 'The `schema_hash` of a tool.' },
    query: specificationParameters,
    answers: json('Specification', 'The schema, and the tools that have it.'),
    example: readSpecificationExample,
    refusals: [400, 401, 403, 404, 409, 500, 503],
  },
  {
    ...{
      id: 'listGroups',
      client: 'groups.list',
      who: 'asker',
      method: 'get',
      path: '/v1/groups',
      tag: 'Tools',
      summary: 'List the groups to ask for',
    },
    answers: json('GroupList', 'The groups.'),
    example: listGroupsExample,
    refusals: [401, 403, 500, 503],
  },
  {
    ...{
      id: 'recommendGroups',
      client: 'groups.recommend',
      who: 'asker',
      method: 'get',
      path: '/v1/groups/recommended',
      tag: 'Tools',
    },
    summary: 'Recommend groups for a question',
    description:
      'Of the groups that the caller may ask for, those that suit the question, best first. It gives no right.',
    query: { question: 'What is to be asked.' },
    answers: json('RecommendationList', 'The groups.'),
    example: recommendGroupsExample,
    refusals: [400, 401, 403, 500, 503],
  },
  {
    ...{
      id: 'readGroup',
      client: 'groups.get',
      isWritten: true,
      who: 'asker',
      method: 'get',
      path: '/v1/groups/{name}',
      deepPlace: 'name',
      tag: 'Tools',
      summary: 'Read a group',
    },
    places: { name: 'The name of the group; slashes in it may stand as they are.' },
    answers: json('Group', 'The group.'),
    example: readGroupExample,
    refusals: [401, 403, 404, 500, 503],
  },
  {
    ...{ id: 'listStates', client: 'states.list', who: 'asker', method: 'get', path: '/v1/states', tag: 'Tools' },
    summary: 'List the states, and which tools lead where',
    answers: {
      200: { meaning: 'The states.', json: 'StateList', others: { 'text/vnd.mermaid': 'The states as a diagram.' } },
    },
    example: listStatesExample,
    refusals: [401, 403, 500, 503],
  },
];
