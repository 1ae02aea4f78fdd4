import { notificationEvents } from '@sluice/core';
import type { JsonObject, NotificationEvent } from '@sluice/core';

interface DescribedEvent {
  /** When it is sent, as a sentence. */
  readonly about: string;
  readonly data: Readonly<Record<string, JsonObject>>;
  /** Fields that only some subscriptions get. */
  readonly optional?: Readonly<Record<string, JsonObject>>;
}

const text = (description: string): JsonObject => ({ type: 'string', description });
const textOrNull = (description: string): JsonObject => ({ type: ['string', 'null'], description });
const time = (description: string): JsonObject => ({ type: 'string', format: 'date-time', description });
const whole = (description: string): JsonObject => ({ type: 'integer', description });
const number = (description: string): JsonObject => ({ type: 'number', description });
const flag = (description: string): JsonObject => ({ type: 'boolean', description });
const texts = (description: string): JsonObject => ({ type: 'array', items: { type: 'string' }, description });

const tenant = textOrNull('The tenant; null for none.');
const agent = text('The agent that the caller asked, or the key of the tool that is one.');
const ofRun = { request_id: text('The run.'), session_id: text('Its session.'), tenant, agent };
const run = {
  data: {
    ...ofRun,
    outcome: text('How it ended: `answer`, `incomplete`, or the code of the error.'),
    requested_by: textOrNull('Who asked; null where that is not known.'),
    state: textOrNull('The state that it ended in.'),
    iterations: whole('Turns of the model.'),
    ended_at: time('When it ended.'),
  },
  optional: {
    question: text('Where the subscription includes it, up to 16,000 characters.'),
    question_is_cut: flag('Whether the question goes on.'),
    answer: text('Where the subscription includes it, up to 16,000 characters.'),
    answer_is_cut: flag('Whether the answer goes on.'),
  },
};
const approval = {
  approval_id: text('The approval.'),
  ...ofRun,
  tool: text('The id of the tool that is called.'),
  effect: text('What the tool does: `read_only`, `state_change` or `external_side_effect`.'),
  requested_by: text('Who asked for the run.'),
  arguments_hash: text('Names the arguments: a decision counts for these alone.'),
};
const expires = { expires_at: time('Until when it waits.') };

const described: Readonly<Record<NotificationEvent, DescribedEvent>> = {
  'run.ended': { about: 'A run ended with an answer.', ...run },
  'run.failed': { about: 'A run ended with an error.', ...run },
  'approval.waiting': { about: 'A call waits for an approver.', data: { ...approval, ...expires } },
  'approval.counted': {
    about: 'One approval of several counted, and the call waits for others still.',
    data: {
      ...{ ...approval, ...expires },
      approved_by: texts('Who has approved, the latest last.'),
      decided_by: textOrNull('Who approved now.'),
      still_needed: whole('Approvals that are missing.'),
      decided_at: time('When it was approved.'),
    },
  },
  'approval.escalated': {
    about: 'A call has waited so long that others may decide too.',
    data: { ...approval, ...expires, rule: text('The rule.'), escalated_to: texts('Who may decide too.') },
  },
  'approval.ended': {
    about: 'A call was decided on, or its time was up.',
    data: {
      ...approval,
      outcome: text('`approve`, `refuse`, `expire` or `run`.'),
      decided_by: text('Who decided; empty where the time was up.'),
      decided_at: time('When.'),
    },
  },
  dead_letter: {
    about: 'A record could not be processed.',
    data: {
      dead_letter: text('The place of the dead letter, partition and offset.'),
      outcome: text('The code of the fault.'),
      is_security_event: flag('Whether the fault is about security.'),
      topic: text('The topic of the record.'),
      service: text('The consumer group that could not process it.'),
      attempts: whole('How often it was tried.'),
      request_id: textOrNull('The run; null where the record cannot be read or is of none.'),
      ...{ tenant, agent: textOrNull('The agent; null for none.'), failed_at: time('When.') },
    },
  },
  'budget.reached': {
    about: 'A budget with a span had no room for a model call of a run.',
    data: {
      ...ofRun,
      per: text('What it counts: `user`, `tenant` or `agent`.'),
      user: textOrNull('Whose calls, where it counts users.'),
      within_seconds: number('Its span.'),
      unit: text('What it counts.'),
      used: text('What is used, a decimal number.'),
      wanted: text('What the call would add, a decimal number.'),
      opens_at: { ...time('When there is room again.'), type: ['string', 'null'] },
    },
  },
  'configuration.refused': {
    about: 'Services do not take a configuration.',
    data: { config_version: text('Its version.'), reason: text('Why.'), refused_at: time('When.') },
  },
  'server.held_back': {
    about: 'A tool is held back, since its MCP server changed it.',
    data: {
      ...{ server: text('The MCP server.'), tool: text('The tool.'), pin: text('The digest of what it is now.') },
      seen_at: time('When an executor saw it.'),
    },
  },
};

/** What a webhook can be about: the type of its CloudEvent, when it is sent, and the JSON Schema of its body. */
export function webhookEvents(): readonly {
  readonly type: string;
  readonly about: string;
  readonly body: JsonObject;
}[] {
  return notificationEvents.map((event) => {
    const { about } = described[event];
    const type = `sluice.${event}`;
    return { type, about, body: bodyOf(type, described[event]) };
  });
}

function bodyOf(type: string, { data, optional = {} }: DescribedEvent): JsonObject {
  const properties: Readonly<Record<string, JsonObject>> = {
    specversion: { const: '1.0' },
    id: text('Follows from what happened: the same each time that it is sent, to each subscription.'),
    source: text('The address of the console, `notify.base_url`; `urn:sluice:notifier` where there is none.'),
    type: { const: type },
    subject: text('The run, the approval, the dead letter, the configuration or the tool.'),
    time: time('When it happened.'),
    sequence: text('Sorts the events of a run as they happened.'),
    datacontenttype: { const: 'application/json' },
    data: {
      type: 'object',
      required: Object.keys(data),
      properties: { ...data, ...optional, link: text('Where the console shows it, with `notify.base_url`.') },
    },
  };
  return { type: 'object', required: Object.keys(properties), properties };
}
