import { runParameters } from '../../../lists/list-query.js';
import { locationParameters } from '../../../run-location.js';
import { readParameters, recordParameters, verdictParameters } from '../../../run-views/run-parameters.js';
import { streamFormatParameter } from '../../../stream-format.js';
import { uploadParameters } from '../../../uploads/upload-parameters.js';
import { json } from '../../operation.js';
import type { Answer, Operation } from '../../operation.js';
import {
  startRunExample,
  uploadExample,
  listRunsExample,
  readRunExample,
  readVerdictsExample,
  readContentExample,
  listContentExample,
  readRecordsExample,
  cancelRunExample,
  requestCancellationExample,
} from './examples.js';

const preferences = {
  prefer: '`wait=<seconds>`: waits so long for the run’s end, 55 at most.',
};
const stream = {
  'text/event-stream':
    'The run as it happens, with what its agents do, in the assistant transport format (docs/http.md).',
};
const location = { location: 'Where the run is to be read.' };
const runAnswers: Readonly<Record<number, Answer>> = {
  200: { meaning: 'The run’s end, or with `accept: text/event-stream` its stream.', json: 'EndedRun', others: stream, headers: location }, // prettier-ignore
  202: { meaning: 'The run has not ended yet.', json: 'RunningRun', headers: location },
};

/** Runs. */
export const runOperations: readonly Operation[] = [
  {
    ...{
      id: 'startRun',
      client: 'runs.create',
      isWritten: true,
      who: 'asker',
      method: 'post',
      path: '/v1/runs',
      tag: 'Runs',
      summary: 'Start a run',
    },
    description: 'Publishes the request; streams the run, waits for its end, or returns at once.',
    headers: {
      ...preferences,
      'idempotency-key':
        'Stands for a request_id of the caller’s own: the same request under it again is the same run.',
      traceparent: 'The trace that the run becomes a part of (W3C Trace Context).',
      tracestate: 'What goes along with it.',
    },
    query: streamFormatParameter,
    body: 'AgentRequest',
    answers: runAnswers,
    example: startRunExample,
    refusals: [400, 401, 403, 404, 409, 413, 415, 500, 503],
  },
  {
    ...{
      id: 'upload',
      client: 'runs.upload',
      isWritten: true,
      who: 'asker',
      method: 'post',
      path: '/v1/uploads',
      tag: 'Runs',
    },
    summary: 'Upload an image or a file for a question',
    description:
      'Keeps it for a day, for the caller alone. A request for a run names it in `content`, and the run gets its own copy.',
    query: uploadParameters,
    fileBody: 'The bytes of the file, as they are, with its media type as `content-type`.',
    answers: json('Upload', 'The name for a request.'),
    example: uploadExample,
    refusals: [400, 401, 403, 413, 415, 500, 503],
  },
  {
    ...{
      id: 'listRuns',
      client: 'runs.list',
      who: 'caller',
      isWritten: true,
      method: 'get',
      path: '/v1/runs',
      tag: 'Runs',
      summary: 'List the runs of the tenant',
    },
    description:
      'Those of the caller’s tenant; operators may name another one. As a stream: the newest runs, then each that changes.',
    query: runParameters,
    answers: {
      200: {
        meaning: 'A page of runs, or with `accept: text/event-stream` the list as it changes.',
        json: 'RunList',
        others: {
          'text/event-stream':
            'Runs and those that leave the filter, as data of the assistant transport format (docs/http.md).',
        },
      },
    },
    example: listRunsExample,
    refusals: [400, 401, 403, 500, 503],
  },
  {
    ...{
      id: 'readRun',
      client: 'runs.get',
      isWritten: true,
      who: 'link',
      method: 'get',
      path: '/v1/runs/{request_id}',
      tag: 'Runs',
      summary: 'Read a run',
      isTagged: true,
    },
    description:
      'The run in the same three ways as where it is started, from any instance. Operators read the runs of others, too.',
    places: { request_id: 'Names the run.' },
    query: { ...readParameters, ...streamFormatParameter },
    headers: preferences,
    answers: runAnswers,
    example: readRunExample,
    refusals: [400, 401, 403, 404, 409, 500, 503],
  },
  {
    ...{
      id: 'readVerdicts',
      client: 'runs.verdicts',
      who: 'link',
      method: 'get',
      path: '/v1/runs/{request_id}/verdicts',
      tag: 'Runs',
    },
    summary: 'See which tools a run had at each iteration, and why not the others',
    description:
      'For each iteration what it was decided by, and each tool with its verdict: offered, or hidden, for which reasons, and what would open it. Who began the run sees the tools of groups that it may ask for; operators see all, with the rules that closed them.',
    places: { request_id: 'Names the run; the run of an agent has verdicts, too.' },
    query: verdictParameters,
    answers: json('VerdictList', 'The iterations.'),
    example: readVerdictsExample,
    refusals: [400, 401, 403, 404, 409, 500, 503],
  },
  {
    ...{
      id: 'readRecords',
      client: null,
      who: 'operator',
      method: 'get',
      path: '/v1/runs/{request_id}/records',
      tag: 'Runs',
    },
    summary: 'Download the records of a run',
    description:
      'A line of JSON for each record of the run and of its agents’ runs, in the order of the log, without credentials and signatures; 10,000 at most. For operators.',
    places: { request_id: 'Names the run.' },
    query: recordParameters,
    answers: {
      200: { meaning: 'The records.', others: { 'application/x-ndjson': 'One record a line.' } },
    },
    example: readRecordsExample,
    refusals: [400, 401, 403, 404, 409, 500, 503],
  },
  {
    ...{
      id: 'listContent',
      client: 'runs.listContent',
      who: 'link',
      method: 'get',
      path: '/v1/runs/{request_id}/content',
      tag: 'Runs',
    },
    summary: 'List the content of a run',
    description:
      'What its question and its steps name: images, files and long results, each with its type, its size and its age, and whether it is still kept.',
    places: { request_id: 'Names the run.' },
    query: readParameters,
    answers: json('ContentList', 'The content, that of the question first.'),
    example: listContentExample,
    refusals: [400, 401, 403, 404, 409, 500, 503],
  },
  {
    ...{
      id: 'readContent',
      client: 'runs.content',
      isWritten: true,
      who: 'link',
      method: 'get',
      path: '/v1/runs/{request_id}/content/{hash}',
      tag: 'Runs',
    },
    summary: 'Download content of a run',
    description:
      'What the question or a step of the run names by this hash: an image, a sound or a file that was sent or that a tool gave, a result that is larger than a step, or with kind `result` the whole answer of an MCP server. Who may read the run may read it.',
    places: { request_id: 'Names the run.', hash: 'Names the content, as the question or a step has it.' },
    query: readParameters,
    answers: {
      200: {
        meaning: 'The content, as a download. Types that a browser would run something of come as bytes.',
        others: {
          'application/octet-stream': 'Its bytes; images, audio, PDF, JSON and plain text come as what they are.',
        },
      },
    },
    example: readContentExample,
    refusals: [400, 401, 403, 404, 409, 500, 503],
  },
  {
    ...{
      id: 'cancelRun',
      client: 'runs.cancel',
      isWritten: true,
      who: 'link',
      method: 'post',
      path: '/v1/runs/{request_id}/cancel',
      tag: 'Runs',
      summary: 'Cancel a run',
    },
    description:
      'The run ends with the error `cancelled`; a call under way ends as far as its tool lets it, and none behind it is made. A run that has ended is shown as it ended. The run is returned in the same three ways as where it is started.',
    places: { request_id: 'Names the run.' },
    query: locationParameters,
    headers: preferences,
    body: 'CancelRequest',
    isBodyOptional: true,
    answers: runAnswers,
    example: cancelRunExample,
    refusals: [400, 401, 403, 404, 409, 413, 415, 500, 503],
  },
  {
    ...{
      id: 'requestCancellation',
      client: 'cancellations.create',
      who: 'caller',
      method: 'post',
      path: '/v1/cancellations',
      tag: 'Runs',
      summary: 'Cancel a run, one’s own or another’s that one may cancel',
    },
    description:
      'As the route above for who began the run; and for those whom `may_cancel` of its agent’s entry names, in the same tenant. It shows nothing of the run. A run that one may not cancel is as unknown as one that there is not.',
    body: 'CancellationRequest',
    answers: json('CancellationRequested', 'The run ends, or has ended.'),
    example: requestCancellationExample,
    refusals: [400, 401, 403, 404, 413, 415, 500, 503],
  },
];
