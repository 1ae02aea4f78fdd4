import { approvalParameters } from '../../../lists/list-query.js';
import { json } from '../../operation.js';
import type { Operation } from '../../operation.js';
import {
  listApprovalsExample,
  listDecidedApprovalsExample,
  readApprovalExample,
  decideAllExample,
  decideByIdExample,
  decideExample,
} from './examples.js';
import { standingOperations } from './standing.js';

/** Calls that wait for a decision. */
export const approvalOperations: readonly Operation[] = [
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
    example: listApprovalsExample,
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
    example: listDecidedApprovalsExample,
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
    example: readApprovalExample,
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
    example: decideExample,
    refusals: [400, 401, 403, 404, 409, 413, 415, 500, 503],
  },
  {
    ...{
      id: 'decideById',
      client: 'approvals.decideById',
      who: 'caller',
      isRepeatable: true,
      method: 'post',
      path: '/v1/approvals/{approval_id}/decision',
      tag: 'Approvals',
    },
    summary: 'Decide on a call by the id of its approval',
    description:
      'As `POST /v1/approvals`, for who has the id and the hash of the arguments alone, as from a webhook. A service names in `decided_for` the person for whom it decides, where policy.approval.on_behalf lets it.',
    places: { approval_id: 'Names the approval.' },
    body: 'DecisionById',
    answers: {
      200: { meaning: 'This decision was taken before.', json: 'PublishedDecision' },
      202: { meaning: 'The decision is on the log, and no executor has taken it yet.', json: 'PublishedDecision' },
    },
    example: decideByIdExample,
    refusals: [400, 401, 403, 404, 409, 413, 415, 500, 503],
  },
  {
    ...{
      id: 'decideAll',
      client: 'approvals.decideAll',
      who: 'caller',
      method: 'post',
      path: '/v1/approvals/decisions',
      tag: 'Approvals',
    },
    summary: 'Decide on several calls that wait',
    description:
      'Up to 100 decisions, as those on the calls of one turn, one after another. Each counts or not by itself, and the answer has its result; a body that cannot be read writes none.',
    body: 'ApprovalDecisions',
    answers: json('PublishedDecisions', 'The decisions that can count are on the log.'),
    example: decideAllExample,
    refusals: [400, 401, 403, 413, 415, 500, 503],
  },
  ...standingOperations,
];
