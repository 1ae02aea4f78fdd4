import { auditParameters } from '../audit/audit-query.js';
import {
  configurationParameters,
  configurationViewParameters,
  differenceParameters,
} from '../configurations/configuration-query.js';
import { attestationParameters, exportParameters } from '../audit/proof-parameters.js';
import { letterParameters } from '../dead-letters/letter-query.js';
import { approvalParameters, runParameters, sessionParameters, stepParameters } from '../lists/list-query.js';
import { locationParameters } from '../run-location.js';
import { usageParameters } from '../usage/usage-query.js';
import { readParameters, recordParameters, verdictParameters } from '../run-views/run-parameters.js';
import * as examples from './examples.js';
import type { Example } from './examples.js';
import { specificationParameters, toolParameters } from '../tool-parameters.js';

/**
 * Whom an operation admits: `anyone`, without a credential; a `caller`, who needs the local secret where no identity is
 * configured; an `asker`, a caller who needs no secret then; by the `link` of a run, a caller for whom the link's token
 * is enough then; an `operator`, whom `identity.operators` names.
 */
export type Who = 'anyone' | 'asker' | 'caller' | 'link' | 'operator';

/** A route of the gateway, as its description has it. */
export interface Operation {
  readonly id: string;
  /**
   * The method of the TypeScript client that asks for it, as `resource.method`, and in snake case that of the Python
   * client; null for none.
   */
  readonly client: string | null;
  /** Where that method does more than ask for it: each client has it written by hand. Others are generated. */
  readonly isWritten?: true;
  /** Of a POST: whether it does no harm twice, so that clients send it again where no answer came. */
  readonly isRepeatable?: true;
  /** The place in the path that takes several of its segments. */
  readonly deepPlace?: string;
  readonly method: 'get' | 'post';
  /** With `{name}` for what stands in its place. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** What stands in the path’s places, and what it means. */
  readonly places?: Readonly<Record<string, string>>;
  /** The parameters of the query, by the table that the gateway reads them by. */
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** The schema of the body. */
  readonly body?: string;
  readonly isBodyOptional?: true;
  /** By status: what it means, and the schema of its JSON or another form. */
  readonly answers: Readonly<Record<number, Answer>>;
  readonly example: Example;
  /** Statuses of refusals. */
  readonly refusals: readonly number[];
  /** Whether its answers have a tag, by which a caller that has one already is answered without a body. */
  readonly isTagged?: true;
  /** Whom it admits; a guard before its handler holds that (`rights.ts`). */
  readonly who: Who;
}

export interface Answer {
  readonly meaning: string;
  /** A schema’s name for JSON, and by media type what else there is. */
  readonly json?: string;
  readonly others?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Parameters of `GET /v1/tools` that are lists, with commas between. */
export const listedParameters: Readonly<Record<string, readonly string[]>> = { listTools: ['group', 'connections'] };

/** Parameters of the query that may not be left out. */
export const requiredParameters: Readonly<Record<string, readonly string[]>> = {
  recommendGroups: ['question'],
};

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
const json = (name: string, meaning: string): Readonly<Record<number, Answer>> => ({ 200: { meaning, json: name } });

const configurationPlace = { config_version: 'The version of the configuration, or `current`.' };

/** Every route: handlers take method, path and status from here (`route.ts`), and a test asks Nest for each. */
export const operations: readonly Operation[] = [
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
    body: 'AgentRequest',
    answers: runAnswers,
    example: examples.startRunExample,
    refusals: [400, 401, 403, 409, 413, 415, 500, 503],
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
    example: examples.listRunsExample,
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
    query: readParameters,
    headers: preferences,
    answers: runAnswers,
    example: examples.readRunExample,
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
    example: examples.readVerdictsExample,
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
    example: examples.readRecordsExample,
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
    example: examples.cancelRunExample,
    refusals: [400, 401, 403, 404, 409, 413, 415, 500, 503],
  },
  {
    ...{
      id: 'readStatus',
      client: 'status.get',
      who: 'operator',
      method: 'get',
      path: '/v1/status',
      tag: 'Operations',
    },
    summary: 'See how the installation stands',
    description:
      'The lag of each role, what waits and what is overdue in all tenants, dead letters of a day, and the configuration in force. For operators.',
    answers: json('SystemStatus', 'How it stands.'),
    example: examples.readStatusExample,
    refusals: [401, 403, 500, 503],
  },
  {
    ...{
      id: 'listServers',
      client: 'servers.list',
      who: 'operator',
      method: 'get',
      path: '/v1/servers',
      tag: 'Operations',
    },
    summary: 'List the MCP servers',
    description:
      'Those of the configuration in force, as the executors report them: whether each is there, its tools, and how tools that are held back differ from what was allowed. For operators.',
    answers: json('ServerList', 'The servers.'),
    example: examples.listServersExample,
    refusals: [401, 403, 500, 503],
  },
  {
    ...{
      id: 'acceptServerChanges',
      client: 'servers.accept',
      who: 'operator',
      method: 'post',
      path: '/v1/servers/{name}/accept',
      tag: 'Operations',
    },
    summary: 'Allow changed tools of an MCP server',
    description:
      'Allows tools that are held back as they are now, as `sluice mcp approve` does, in a process that follows a configuration file. It is a conflict where the server says something else than the pins. For operators.',
    places: { name: 'Names the server.' },
    body: 'AcceptRequest',
    answers: json('AcceptedChanges', 'They are allowed.'),
    example: examples.acceptServerChangesExample,
    refusals: [400, 401, 403, 404, 409, 413, 415, 500, 503],
  },
  {
    ...{
      id: 'listConnections',
      client: 'connections.list',
      who: 'operator',
      method: 'get',
      path: '/v1/connections',
      tag: 'Operations',
    },
    summary: 'List the connections',
    description: 'Those of the configuration in force, and what uses them; never a credential. For operators.',
    answers: json('ConnectionList', 'The connections.'),
    example: examples.listConnectionsExample,
    refusals: [401, 403, 500, 503],
  },
  {
    ...{ id: 'readUsage', client: 'usage.get', who: 'caller', method: 'get', path: '/v1/usage', tag: 'Runs' },
    summary: 'See what was used',
    description:
      'Runs that ended, tokens and cost by user, model, day or outcome, and calls by tool, of the caller’s tenant, added up by UTC day.',
    query: usageParameters,
    answers: json('UsageList', 'The usage.'),
    example: examples.readUsageExample,
    refusals: [400, 401, 403, 500, 503],
  },
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
    example: examples.listSessionsExample,
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
    example: examples.listStepsExample,
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
    example: examples.listToolsExample,
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
    example: examples.tryToolsetExample,
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
      'Records name the tools of a turn with their hashes; what each of them takes stands here, as the configuration in force or the one that is named has it.',
    places: { hash: 'The `schema_hash` of a tool.' },
    query: specificationParameters,
    answers: json('Specification', 'The schema, and the tools that have it.'),
    example: examples.readSpecificationExample,
    refusals: [400, 401, 403, 404, 500, 503],
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
    example: examples.listGroupsExample,
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
    example: examples.recommendGroupsExample,
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
    example: examples.readGroupExample,
    refusals: [401, 403, 404, 500, 503],
  },
  {
    ...{ id: 'listStates', client: 'states.list', who: 'asker', method: 'get', path: '/v1/states', tag: 'Tools' },
    summary: 'List the states, and which tools lead where',
    answers: {
      200: { meaning: 'The states.', json: 'StateList', others: { 'text/vnd.mermaid': 'The states as a diagram.' } },
    },
    example: examples.listStatesExample,
    refusals: [401, 403, 500, 503],
  },
  {
    ...{
      id: 'listApprovals',
      client: 'approvals.list',
      who: 'caller',
      method: 'get',
      path: '/v1/approvals',
      tag: 'Approvals',
    },
    summary: 'List the calls that wait for the caller’s decision',
    description: 'Those of the caller’s tenant, the oldest first; none for a caller that policy names no approver.',
    query: approvalParameters,
    answers: {
      200: {
        meaning: 'A page of approvals.',
        json: 'ApprovalList',
        others: {
          'text/event-stream':
            'The calls that wait and those that come, as data of the assistant transport format (docs/http.md).',
        },
      },
    },
    example: examples.listApprovalsExample,
    refusals: [400, 401, 403, 500, 503],
  },
  {
    ...{
      id: 'listDecidedApprovals',
      client: 'approvals.decided',
      who: 'caller',
      method: 'get',
      path: '/v1/approvals/decided',
      tag: 'Approvals',
    },
    summary: 'List what was decided',
    description:
      'Decisions that counted and approvals whose time ran out, of the caller’s tenant, the newest first; none for a caller that is neither an approver nor an operator.',
    query: approvalParameters,
    answers: json('DecidedApprovalList', 'A page of decisions.'),
    example: examples.listDecidedApprovalsExample,
    refusals: [400, 401, 403, 500, 503],
  },
  {
    ...{
      id: 'readApproval',
      client: 'approvals.get',
      who: 'caller',
      method: 'get',
      path: '/v1/approvals/{approval_id}',
      tag: 'Approvals',
    },
    summary: 'Read an approval',
    description:
      'What a call that waits is about, for who may decide on it, and once it is decided the outcome of the call.',
    places: { approval_id: 'Names the approval.' },
    answers: json('Approval', 'The approval.'),
    example: examples.readApprovalExample,
    refusals: [401, 403, 404, 500, 503],
  },
  {
    ...{
      id: 'decide',
      client: 'approvals.decide',
      who: 'caller',
      isWritten: true,
      method: 'post',
      path: '/v1/approvals',
      tag: 'Approvals',
    },
    summary: 'Approve or refuse a call that waits',
    description:
      'A decision that cannot count is refused, with the reason as `not_taken`. Two may still come at once: the first one counts, and `approval_outcome` on the run’s stream says which.',
    headers: { prefer: '`wait=<seconds>`: waits so long until the decision is taken, 55 at most.' },
    body: 'ApprovalDecision',
    answers: {
      200: { meaning: 'The decision was taken.', json: 'PublishedDecision' },
      202: { meaning: 'The decision is on the log, and no executor has taken it yet.', json: 'PublishedDecision' },
    },
    example: examples.decideExample,
    refusals: [400, 401, 403, 404, 409, 413, 415, 500, 503],
  },
  {
    ...{
      id: 'listAudit',
      client: 'audit.list',
      who: 'caller',
      method: 'get',
      path: '/v1/audit',
      tag: 'Audit',
      summary: 'List the audit of the tenant',
    },
    description:
      'The newest first. Details of other callers’ entries are for operators. The audit follows the log, so an entry is there a moment later.',
    query: auditParameters,
    answers: {
      200: {
        meaning: 'A page of entries.',
        json: 'AuditList',
        others: { 'text/csv': 'The same, with a line of column names and times as ISO 8601.' },
        headers: { link: 'The address of the next page, as `rel="next"`; absent on the last one.' },
      },
    },
    example: examples.listAuditExample,
    refusals: [400, 401, 403, 500, 503],
  },
  {
    ...{
      id: 'verifyAudit',
      client: 'audit.verify',
      isRepeatable: true,
      who: 'operator',
      method: 'post',
      path: '/v1/audit/verify',
      tag: 'Audit',
      summary: 'Verify the audit',
    },
    description:
      'Recomputes every chain of the audit, of all tenants, and names each record that was changed, dropped, inserted or moved. For operators. It reads the whole log, and ends with its reader.',
    answers: {
      200: {
        meaning: 'What was found.',
        json: 'AuditVerification',
        others: {
          'text/event-stream':
            'How far it is, each finding and the end, as data of the assistant transport format (docs/http.md).',
        },
      },
    },
    example: examples.verifyAuditExample,
    refusals: [400, 401, 403, 413, 415, 500, 503],
  },
  {
    ...{
      id: 'exportLog',
      client: null,
      who: 'operator',
      method: 'get',
      path: '/v1/audit/export',
      tag: 'Audit',
      summary: 'Export the records of a span',
    },
    description:
      'The file of `sluice export`: records of all topics, without credentials, with all configurations and the schemas. For operators.',
    query: exportParameters,
    answers: { 200: { meaning: 'The file.', others: { 'application/zstd': 'What `sluice replay` reads.' } } },
    example: examples.exportLogExample,
    refusals: [400, 401, 403, 500, 503],
  },
  {
    ...{
      id: 'attest',
      client: 'audit.attest',
      who: 'operator',
      method: 'get',
      path: '/v1/audit/attestation',
      tag: 'Audit',
      summary: 'Attest the tool calls of a span',
    },
    description:
      'A signed report that others verify without the log, as `sluice attest` prints it. For operators, of a gateway that has the key of the audit.',
    query: attestationParameters,
    answers: json('Attestation', 'The report.'),
    example: examples.attestExample,
    refusals: [400, 401, 403, 409, 500, 503],
  },
  {
    ...{
      id: 'listDeadLetters',
      client: 'deadLetters.list',
      who: 'operator',
      method: 'get',
      path: '/v1/dead-letters',
      tag: 'Dead letters',
    },
    summary: 'List dead letters',
    description: 'Records of all tenants that a service could not handle, the newest first. For operators.',
    query: letterParameters,
    answers: json('DeadLetterList', 'A page of dead letters.'),
    example: examples.listDeadLettersExample,
    refusals: [400, 401, 403, 500, 503],
  },
  {
    ...{
      id: 'readDeadLetter',
      client: 'deadLetters.get',
      who: 'operator',
      method: 'get',
      path: '/v1/dead-letters/{id}',
      tag: 'Dead letters',
    },
    summary: 'Read a dead letter',
    description: 'What it holds, without credentials and signatures, and what a redrive would do. For operators.',
    places: { id: 'Names the dead letter.' },
    answers: json('DeadLetter', 'The dead letter.'),
    example: examples.readDeadLetterExample,
    refusals: [401, 403, 404, 500, 503],
  },
  {
    ...{
      id: 'redrive',
      client: 'deadLetters.redrive',
      who: 'operator',
      method: 'post',
      path: '/v1/dead-letters/{id}/redrive',
      tag: 'Dead letters',
    },
    summary: 'Redrive a dead letter',
    description:
      'Puts its record on the log again, once, as a new attempt of its run. A conflict says why that cannot be, or who did it before. For operators.',
    places: { id: 'Names the dead letter.' },
    answers: json('Redriven', 'The record is on the log.'),
    example: examples.redriveExample,
    refusals: [400, 401, 403, 404, 409, 413, 415, 500, 503],
  },
  {
    ...{
      id: 'readMe',
      client: 'callers.me',
      who: 'caller',
      method: 'get',
      path: '/v1/me',
      tag: 'Console',
      summary: 'See who one is',
    },
    description: 'The caller as its credential says, what it may ask for and decide, and when the credential ends.',
    answers: json('Me', 'The caller.'),
    example: examples.readMeExample,
    refusals: [401, 403, 500, 503],
  },
  {
    ...{
      id: 'readConsole',
      client: 'console.get',
      who: 'anyone',
      method: 'get',
      path: '/v1/console',
      tag: 'Console',
      summary: 'Read how one signs in',
    },
    description:
      'What a page has to know before it knows a caller: the version, and by which credentials one signs in.',
    answers: json('ConsoleAbout', 'How one signs in.'),
    example: examples.readConsoleExample,
    refusals: [500, 503],
  },
  {
    ...{
      id: 'signIn',
      client: 'console.signIn',
      who: 'anyone',
      method: 'post',
      path: '/v1/console/sign-in',
      tag: 'Console',
      summary: 'Sign in by a one-time link',
    },
    description:
      'Where no identity is configured: the code of a link of `sluice console`, which counts once, becomes a token that stands for the local secret.',
    body: 'SignIn',
    answers: json('SignedIn', 'The token.'),
    example: examples.signInExample,
    refusals: [400, 401, 403, 413, 415, 429, 500, 503],
  },
  {
    ...{
      id: 'renewSignIn',
      client: 'console.renew',
      who: 'anyone',
      method: 'post',
      path: '/v1/console/renew',
      tag: 'Console',
      summary: 'Renew a sign-in',
    },
    description: 'A new token for the page that signed in, by a signature with the key that its browser keeps.',
    body: 'SignInRenewal',
    answers: json('SignedIn', 'The token.'),
    example: examples.renewSignInExample,
    refusals: [400, 401, 403, 413, 415, 429, 500, 503],
  },
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
    example: examples.listConfigurationsExample,
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
    example: examples.readConfigurationExample,
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
    example: examples.compareConfigurationsExample,
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
    example: examples.readMatrixExample,
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
    example: examples.listFindingsExample,
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
    example: examples.checkConfigurationExample,
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
    example: examples.applyConfigurationExample,
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
    example: examples.explainExample,
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
    example: examples.whatIfExample,
    refusals: [400, 401, 403, 413, 415, 422, 500, 503],
  },
  {
    ...{
      id: 'readDescription',
      client: null,
      method: 'get',
      path: '/openapi.json',
      tag: 'Description',
      who: 'anyone',
      isTagged: true,
    },
    summary: 'Read this description',
    answers: { 200: { meaning: 'OpenAPI 3.1.', others: { 'application/json': 'This description.' } } },
    example: examples.readDescriptionExample,
    refusals: [],
  },
  {
    ...{
      id: 'readPage',
      client: null,
      method: 'get',
      path: '/docs',
      tag: 'Description',
      who: 'anyone',
      isTagged: true,
    },
    summary: 'Read this description as a page',
    answers: { 200: { meaning: 'The page.', others: { 'text/html': 'The page.' } } },
    example: examples.readPageExample,
    refusals: [],
  },
];
