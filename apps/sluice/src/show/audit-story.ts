import { isJsonObject, printableIn, toolIndexCount } from '@sluice/core';
import type { JsonObject, JsonValue } from '@sluice/core';
import type { SessionEntry } from '../audit/session.js';
import type { Paint } from './paint.js';
import { shorten } from './story.js';

const gap = '   ';

/** Tells a session in words, read off the audit’s entries alone. */
export class AuditStory {
  private request: string | undefined;

  constructor(
    private readonly write: (text: string) => void,
    private readonly paint: Paint,
  ) {}

  tell(told: SessionEntry): void {
    const entry = printableIn(told);
    if (entry.request_id !== '' && entry.request_id !== this.request) {
      this.request = entry.request_id;
      this.write(`\n${this.paint.strong(`Run ${entry.request_id}`)}\n`);
    }
    const doubt = entry.details['authentic'] === false ? this.paint.bad('not written by a service: ') : '';
    this.write(`${gap}${this.paint.dim(entry.at.slice(11, 23))}  ${doubt}${this.sentence(entry)}\n`);
  }

  private sentence({ kind, details: d, config_version: version, source_offset: offset, chain }: SessionEntry): string {
    const { paint } = this;
    if (d['too_long'] !== undefined) return tooLong(kind, d);
    switch (kind) {
      case 'request':
        if (d['passed_on_from'] !== undefined)
          return `the request was passed on to agent.calls, from ${text(d, 'passed_on_from')}`;
        return `asked “${shorten(text(d, 'question'))}” with the groups ${list(d, 'requested_groups')} in state ${paint.state(text(d, 'initial_state'))}`;
      case 'request_refused':
        return `${paint.bad('was refused')}: ${text(d, 'message')} ${who(d)}`;
      case 'access_denied':
        return `${who(d)} ${paint.bad('was denied')} ${text(d, 'route')}${named(d)}: ${text(d, 'message')} ${paint.dim(`(${text(d, 'code')})`)}; asked for ${list(d, 'requested_groups')}, may ask for ${list(d, 'permitted_groups')}`;
      case 'tools_granted':
        return `iteration ${text(d, 'iteration')} in state ${paint.state(text(d, 'state'))}: ${who(d)} was offered ${offered(d)}; hidden: ${hidden(d)}${remembered(d)} ${paint.dim(`configuration ${version}`)}`;
      case 'calls_chosen':
        return `${chooser(d)} ${names(d, 'calls', 'tool')}${omitted(d)}${text(d, 'thought') === '' ? '' : `, because: ${shorten(text(d, 'thought'))}`}${paint.dim(`${asked(d)}${ownDecision(d, version)}`)}${decided(d)}`;
      case 'tool_call':
        return `${this.call(d)}${paint.dim(ownDecision(d, version))}`;
      case 'agent_begun':
        return `began as the agent ${paint.tool(text(d, 'tool_id'))}, called by the run ${text(d, 'parent_request_id')}${beside(d)}: “${shorten(text(d, 'question'))}” with the groups ${list(d, 'requested_groups')} in state ${paint.state(text(d, 'initial_state'))}`;
      case 'state_transition':
        return `the state went from ${paint.state(text(d, 'from'))} to ${paint.state(text(d, 'to'))} by ${paint.tool(text(d, 'tool'))}`;
      case 'approval_requested':
        if (isJsonObject(d['question']))
          return `${paint.tool(text(d, 'tool'))} waits for its caller to answer a form of ${text(d['question'], 'server')} until ${text(d, 'expires_at')}`;
        return `${paint.tool(text(d, 'tool'))} waits for an approval until ${text(d, 'expires_at')}: ${shorten(text(d, 'arguments'))}`;
      case 'approval_decided':
        return `${text(d, 'decided_by') || 'an unnamed approver'} said ${text(d, 'decision')}${because(d)}`;
      case 'approval_outcome':
        return `${text(d, 'decision')} by ${text(d, 'decided_by')} ${d['not_taken'] === null ? 'was taken' : paint.bad(`does not count: ${text(d, 'not_taken')}`)}${because(d)}`;
      case 'run_ended':
        return d['outcome'] === 'answer'
          ? `${d['incomplete'] === undefined ? paint.good('answered') : paint.bad(`answered in part (${text(d, 'incomplete')}, ${text(d, 'finish_reason')})`)}: ${shorten(text(d, 'answer'))} ${paint.dim(`${took(d)}${asked(d)}${prompts(d)}`)}${decided(d)}`
          : `${paint.bad('ended without an answer')}: ${text(d, 'message')} ${paint.dim(`(${text(d, 'outcome')})`)}`;
      case 'dead_letter':
        return `${paint.bad('a record was dead-lettered')}: ${text(d, 'topic')} ${text(d, 'partition')} ${text(d, 'offset')}, ${text(d, 'code')}: ${shorten(text(d, 'reason'))}`;
      case 'undecodable':
      case 'not_told':
        return `${paint.bad('an unreadable record')}: ${chain} ${offset}, SHA-256 ${text(d, 'value_hash')}`;
      default:
        return `${kind} ${shorten(JSON.stringify(d))}`;
    }
  }

  private call(d: JsonObject): string {
    const { paint } = this;
    const ok = d['outcome'] === 'ok';
    const how = ok
      ? paint.good('ok')
      : paint.bad(`${text(d, 'outcome')}${d['reason'] === null ? '' : `, ${text(d, 'reason')}`}`);
    const args =
      d['arguments'] === null
        ? `(arguments withheld, SHA-256 ${text(d, 'arguments_hash').slice(0, 12)}…)`
        : shorten(text(d, 'arguments'));
    const agent = d['agent_request_id'] === undefined ? '' : ` (as the run ${text(d, 'agent_request_id')})`;
    return `${who(d)} called ${paint.tool(text(d, 'tool'))} ${args}${agent}: ${how} after ${text(d, 'duration_ms')} ms${askedMeanwhile(d)}: ${shorten(text(d, 'observation'))}`;
  }
}

/** What was decided about a call that its request makes itself. */
function ownDecision({ decided = null }: JsonObject, version: string): string {
  if (!isJsonObject(decided)) return '';
  const counts = isJsonObject(decided['hidden_counts']) ? Object.entries(decided['hidden_counts']) : [];
  const others = counts.map(([reason, count]) => `${String(count)} (${reason})`).join(', ');
  const own = list(decided, 'hidden');
  const hidden = own === 'none' ? '' : `; not offered: ${own}`;
  return `; decided with the groups ${list(decided, 'granted_groups')}${hidden}${others === '' ? '' : `; hidden: ${others}`}; configuration ${version}`;
}

const parts: Readonly<Record<string, string>> = {
  request: 'what was asked',
  tools_granted: 'what was offered, and what was hidden and why,',
  calls_chosen: 'what the model chose',
  tool_call: 'what a call was and gave',
  run_ended: 'how the run ended',
};

/** An entry whose details were larger than the audit keeps: it has their size and their hash. */
function tooLong(kind: string, details: JsonObject): string {
  const what = parts[kind] ?? kind.replaceAll('_', ' ');
  return `${what} was too large to be kept in the audit: ${text(details, 'too_long')} bytes, SHA-256 ${text(details, 'hash').slice(0, 12)}…; its record says it`;
}

/** Whose the calls of a turn are. */
function chooser(details: JsonObject): string {
  if (details['decided'] !== undefined) return 'the request itself makes the call';
  return byPlan(details) ? 'the plan’s step' : 'the model chose';
}

/** Whether the calls are as a plan has them, so that no model was asked. */
function byPlan({ decision = null }: JsonObject): boolean {
  return isJsonObject(decision) && decision['action'] === 'call';
}

/** How many agents’ runs began with it, side by side. */
function beside(details: JsonObject): string {
  const others = Number(details['side_by_side'] ?? 1) - 1;
  return others < 1 ? '' : `, side by side with ${others} ${others === 1 ? 'other' : 'others'}`;
}

/** Which earlier runs of the session the model was shown. */
function remembered(details: JsonObject): string {
  const runs = list(details, 'memory');
  return runs === 'none' ? '' : `; shown were the earlier runs ${runs}`;
}

/** What the run’s strategy decided for the turn. */
function decided({ decision = null }: JsonObject): string {
  if (!isJsonObject(decision)) return '';
  const [strategy, action, reason] = ['strategy', 'action', 'reason'].map((name) => text(decision, name));
  return `; ${strategy} decided ${action}: ${shorten(reason ?? '')}${measuredIn(decision)}`;
}

/** What the decision rests on where results are measured, and how sure its answer can be. */
function measuredIn({ score = null, confidence = null }: JsonObject): string {
  const sure = confidence === null ? '' : `; confidence ${text({ confidence }, 'confidence')}`;
  if (!isJsonObject(score)) return sure;
  const [tool, kind, measured, threshold, by] = ['tool', 'kind', 'confidence', 'threshold', 'accepted'].map((name) =>
    text(score, name),
  );
  const accepted = by === '' ? 'not accepted' : `accepted by ${by}`;
  return `; ${tool} was measured ${measured} of ${threshold} needed (${kind}), ${accepted}${sure}`;
}

/** What the server of a tool asked in the middle of its call. */
function askedMeanwhile({ questions }: JsonObject): string {
  if (!Array.isArray(questions)) return '';
  const said = questions.map((one: JsonValue) => {
    const question = one as JsonObject;
    const [kind, outcome, reason, by, count] = ['kind', 'outcome', 'reason', 'by', 'count'].map((name) =>
      text(question, name),
    );
    const often = count === '' ? '' : `${String(count)} times `;
    return `${often}${String(kind)} ${String(outcome)}${reason === '' ? '' : ` (${String(reason)})`}${by === '' ? '' : ` by ${String(by)}`}`;
  });
  return `, asked by its server meanwhile: ${said.join(', ')}`;
}

function omitted(details: JsonObject): string {
  const count = details['omitted_calls'];
  return count === undefined
    ? ''
    : ` and made ${text(details, 'omitted_calls')} more calls, which were too many to be kept`;
}

function text(details: JsonObject, name: string): string {
  const found = details[name];
  return found === undefined || found === null ? '' : typeof found === 'string' ? found : JSON.stringify(found);
}

function list(details: JsonObject, name: string): string {
  const found = details[name];
  return Array.isArray(found) && found.length > 0 ? found.join(', ') : 'none';
}

function names(details: JsonObject, name: string, member: string): string {
  const found = details[name];
  if (!Array.isArray(found)) return 'nothing';
  return found.map((one: JsonValue) => text(one as JsonObject, member)).join(', ');
}

/** Long lists stand there by their indexes, and those that stay the same in a run are named once. */
function offered(details: JsonObject): string {
  const { offered_indexes: indexes = null, offered_since: since = null, iteration = null } = details;
  if (typeof since === 'number' && since !== iteration) return `the same as in iteration ${since}`;
  const named = list(details, 'offered');
  return named === 'none' && Array.isArray(indexes) ? `${toolIndexCount(indexes as number[])} tools` : named;
}

function hidden(details: JsonObject): string {
  const found = details['hidden'];
  if (!Array.isArray(found) || found.length === 0) {
    const counts = Object.entries((details['hidden_counts'] ?? {}) as JsonObject);
    return counts.map(([reason, count]) => `${String(count)} by ${reason}`).join(', ') || 'nothing';
  }
  return found
    .map((one: JsonValue) => `${text(one as JsonObject, 'key')} (${list(one as JsonObject, 'reasons')})`)
    .join(', ');
}

function who(details: JsonObject): string {
  const actor = text(details, 'actor');
  if (actor === '') return '';
  const subject = text(details, 'subject');
  return `${actor} of ${text(details, 'tenant')}${subject === '' ? '' : ` for ${subject}`}`;
}

/** The id that a denied request gave itself; it is no run. */
function named(details: JsonObject): string {
  const id = text(details, 'named_request_id');
  return id === '' ? '' : ` as ${id}`;
}

function because(details: JsonObject): string {
  const reason = text(details, 'reason');
  return reason === '' ? '' : `, because: ${shorten(reason)}`;
}

/** Which model it was, what it was asked, and which were asked in vain before. */
function asked(details: JsonObject): string {
  if (details['model'] === undefined) return '';
  const before =
    details['models_passed_over'] === undefined
      ? ''
      : `, after ${names(details, 'models_passed_over', 'model')} gave no turn`;
  return ` (${text(details, 'model')}${before}, prompt ${text(details, 'prompt_hash').slice(0, 12)}…)`;
}

/** What the prompts of a run were made of. */
function prompts(d: JsonObject): string {
  const made = d['prompt_tokens'];
  if (!isJsonObject(made)) return '';
  return `, prompts of ${text(made, 'definitions')} tokens for definitions, ${text(made, 'results')} for results, ${text(made, 'other')} for the rest`;
}

function took(details: JsonObject): string {
  const log = details['request_log'];
  return typeof log === 'object' && log !== null ? `after ${text(log as JsonObject, 'execution_time')}` : '';
}
