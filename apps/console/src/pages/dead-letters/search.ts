import { oneOf, texts } from '../../data/search.js';

export const letterTopics = [
  ...([
    'agent.requests',
    'agent.calls',
    'agent.toolsets',
    'agent.tool-calls',
    'agent.steps',
    'agent.responses',
  ] as const),
  ...(['agent.approvals', 'agent.cancellations', 'agent.discovery', 'agent.denials', 'agent.config'] as const),
  'agent.notifications',
] as const;

export const letterCodes = [
  ...(['undecodable', 'invalid_request', 'unknown_configuration', 'identity_unreachable', 'grant_invalid'] as const),
  ...(['continuation_invalid', 'signature_invalid', 'groups_widened', 'state_altered', 'replayed'] as const),
  ...(['schema_invalid', 'model_unreachable', 'model_refused', 'ledger_unreachable', 'output_too_large'] as const),
  ...(['receiver_unreachable', 'receiver_gone', 'storage', 'retries_exhausted', 'unexpected'] as const),
] as const;

/** The filters of dead letters, and the one that is open. */
export const letterSearch = (search: Readonly<Record<string, unknown>>) => {
  const topic = oneOf(search, 'topic', ['', ...letterTopics] as const);
  const code = oneOf(search, 'code', ['', ...letterCodes] as const);
  return {
    ...texts(search, ['since', 'session_id', 'service', 'letter']),
    ...(topic === '' ? {} : { topic }),
    ...(code === '' ? {} : { code }),
  };
};
