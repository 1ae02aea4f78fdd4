import { isPart } from '../configurations/parts.js';
import type { AccessDenial, Cancellation, DiscoveryRecord } from '@sluice/records';
import { ofNone, ofRun, row } from './entry.js';

/** The topics beside those that a run goes through. */
export const otherTopicRows = {
  'agent.progress': row('AgentProgress', {
    writers: { agent: '', executor: '' },
    readers: { upstream: 'best effort, kept for an hour', gateway: '', mcp: '' },
    handledBy: null,
    part: null,
    stage: 0,
    kept: 'hour',
    entries: null,
    held: { by: 'nothing reads it but people, for an hour' },
    need: 'none; it is for observers',
    personal: "the model's words and redacted results",
    ids: ofRun,
    tenant: ({ tenantId }) => tenantId,
    gist: ({ kind, tool, text }) => `${kind} ${tool ?? ''} ${text}`,
  }),
  'agent.dead-letters': row('DeadLetter', {
    writers: { filter: '', agent: '', executor: '', notifier: '' },
    readers: { redriver: '', gateway: 'to list them', notifier: '' },
    handledBy: null,
    part: null,
    stage: 8,
    kept: 'setting',
    entries: {
      dead_letter: { listed: false, with: 'code and reason, the hash of its bytes, whether it is a security event' },
    },
    held: { by: 'what it holds is verified again when it is re-driven' },
    need: 'what could not be processed. What is gone cannot be re-driven',
    personal: 'the record as it was, without the credential',
    ids: ofNone,
    gist: ({ topic, offset, code, reason }) => `from ${topic} ${offset}: ${code}, ${reason}`,
  }),
  'agent.audit': row('AuditRecord', {
    about: 'what happened, chained by hashes ([audit.md](audit.md))',
    writers: { audit: '' },
    readers: { auditor: '', gateway: 'to list it' },
    handledBy: null,
    part: null,
    stage: 0,
    kept: 'for ever',
    entries: null,
    held: 'signed',
    need: 'the auditor: a chain that has lost its beginning proves nothing of what came before, and shows only what is left',
    personal:
      'question, thoughts and answer up to 4,000 characters each, arguments and results as far as they may be shown, hashes, tenant and actor ([audit.md](audit.md#what-is-recorded))',
    ids: ofRun,
    gist: ({ kind, sourceTopic }) => `${kind} ${sourceTopic}`,
  }),
  'agent.cancellations': row('Cancellation', {
    about: 'a caller cancels its run, and what the filter decided on that ([below](#cancelling-a-run))',
    writers: { upstream: '', gateway: '', filter: 'for the outcome' },
    readers: { filter: '', upstream: '', executor: 'for calls that wait for an approval' },
    handledBy: 'filter',
    hasCredential: true,
    part: null,
    stage: 7,
    kept: 'setting',
    entries: {
      cancel_asked: { listed: false, with: 'that a run is to be cancelled and why' },
      cancel_outcome: { listed: true, with: 'who cancelled it, as the filter found out, or why that does not count' },
    },
    held: {
      by: 'a cancellation has the credential of who cancels, and what counts is the mark that a filter sets in the ledger for that caller: of anybody else’s run it says nothing. An outcome decides nothing',
    },
    need: 'who cancelled which run. Keep it for longer than an approval may wait',
    personal: 'who cancelled and why; the credential as in `agent.requests`',
    ids: ({ record, key }) => ofRun({ record: { ...record, sessionId: record.sessionId || key } }),
    tenant: ({ outcome }) => outcome?.tenantId || null,
    gist: aboutCancellation,
  }),
  'agent.discovery': row('DiscoveryRecord', {
    about:
      'which of a request’s tools a model was shown, what it searched for and called ([discovery.md](discovery.md#what-is-written-down))',
    writers: { proxy: '', agent: '' },
    readers: { auditor: '', gateway: 'to verify the audit' },
    handledBy: null,
    part: null,
    stage: 0,
    kept: 'setting',
    entries: {
      tools_shown: {
        listed: true,
        with: 'which of a request’s tools a model was shown, by number; its searches with what they found, and what it called ([discovery.md](discovery.md#what-is-written-down))',
      },
    },
    held: { by: 'nothing is decided by them; the audit repeats them' },
    need: 'recall and savings of tool discovery. No run and no replay needs it',
    personal:
      'what models searched for, without what looks like a credential; names of tools; the tenant. `tool_discovery.jsonl` has the same, and 320 MB at most',
    ids: (message) => (message.record.source === 'agent' ? ofRun(message) : null),
    tenant: ({ tenantId }) => tenantId || null,
    gist: aboutDiscovery,
  }),
  'agent.denials': row('AccessDenial', {
    about:
      'a request or a listing that the gateway refused before anything else of it was on the log ([security.md](security.md#over-http))',
    writers: { gateway: '' },
    readers: { auditor: '', gateway: 'to verify the audit' },
    handledBy: null,
    part: null,
    stage: 1,
    kept: 'setting',
    entries: {
      access_denied: {
        of: 'AccessDenial, which the gateway writes',
        listed: true,
        with: 'who was refused which request or listing, permitted, requested and refused groups, code and reason. It is no run: `named_request_id` is the id that the request gave itself, which stays free',
      },
    },
    held: { by: 'nothing is decided by them; the audit repeats them' },
    need: 'who was refused at the gateway. Without it the audit’s entries are all that is left of it. No run and no replay needs it',
    personal: 'tenant, actor, subject and groups of refused requests',
    // A refused request became no run, whatever id it names.
    ids: ofNone,
    tenant: ({ tenantId }) => tenantId,
    gist: aboutDenial,
  }),
  'agent.notifications': row('Notification', {
    about: 'what a subscription is to be sent by a webhook ([notifications.md](notifications.md))',
    writers: { notifier: '', redriver: 'to have it sent again' },
    readers: { notifier: '', redriver: '' },
    handledBy: null,
    part: null,
    stage: 0,
    kept: 'setting',
    entries: null,
    held: { by: 'the notifier keeps a digest of each in the ledger, and sends nothing that has none' },
    need: 'webhooks that are not delivered yet. What is gone is not sent',
    personal:
      'tenant, ids, outcomes and who decided; questions and answers only where a subscription includes them ([notifications.md](notifications.md#what-is-private))',
    ids: ofRun,
    tenant: ({ tenantId }) => tenantId,
    gist: ({ subscription, event, subject, outcome }) =>
      `${event} ${subject}${outcome === '' ? '' : `: ${outcome}`}, to ${subscription}`,
  }),
  'agent.config': row('ConfigVersion', {
    writers: { operator: '`npx sluice config apply`; `start`, `ask` and `load`, where they bring a configuration' },
    readers: {
      ...{ filter: '', agent: '', executor: '', gateway: '', proxy: '', mcp: '', notifier: '', operator: '' },
      redriver: '',
    },
    handledBy: null,
    part: null,
    stage: 0,
    kept: 'for ever',
    held: 'signed',
    entries: {
      configuration: {
        listed: false,
        with: 'version, hash, where it was compiled from, how many parts it has and a hash of their names; not `authentic`, it is one that services refuse',
      },
      configuration_part: {
        listed: false,
        with: 'its name, which is the hash of its content, and the key of its tool; not `authentic`, it has another content than its name says',
      },
    },
    need: 'every decision names its version, and versions their parts, so it is kept for ever',
    personal: null,
    ids: ofNone,
    gist: (record) => `${isPart(record) ? 'part' : 'version'} ${record.version} from ${record.source}`,
  }),
};

function aboutDiscovery({ strategy, bypass, keptTools, totalTools, called, rounds }: DiscoveryRecord): string {
  const done = bypass === null ? `${rounds} rounds of searches` : `unchanged, ${bypass}`;
  return `${strategy}: ${keptTools} of ${totalTools} tools, ${done}; called ${called.join(', ') || 'none'}`;
}

function aboutDenial({ actorId, tenantId, route, refusedGroups, code }: AccessDenial): string {
  return `${actorId} of ${tenantId} was refused ${route}: ${code}${refusedGroups.length === 0 ? '' : `, groups ${refusedGroups.join(', ')}`}`;
}

function aboutCancellation({ requestId, reason, outcome }: Cancellation): string {
  if (outcome === null) return `${requestId} is to be cancelled${reason === '' ? '' : `: ${reason}`}`;
  const { actorId, notTaken } = outcome;
  return notTaken === null ? `${requestId} is cancelled by ${actorId}` : `${requestId} is not cancelled: ${notTaken}`;
}
