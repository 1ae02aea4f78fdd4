import { printable } from '@sluice/core';
import type { JsonObject, JsonValue } from '@sluice/core';
import { buttonText, decisionActions, dialogText, longestValue, reasonDialog, reasonField } from './button.js';
import type { ButtonValue } from './button.js';

/** A call that waits, or waited, as its message shows it. */
interface ShownApproval {
  readonly tool: string;
  readonly description: string | null;
  readonly effect: string;
  /** Null where the message does not show it, or it is gone. */
  readonly question: string | null;
  /** Without secrets; null where the message does not show them. */
  readonly arguments: JsonValue | null;
  readonly askedBecause: string;
  readonly requestedBy: string;
  readonly onBehalfOf: string | null;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  /** Who may decide. */
  readonly approvers: readonly string[];
  readonly stillNeeded: number;
  /** Who has approved so far, where several persons have to. */
  readonly approvedBy: readonly string[];
  readonly isEscalated: boolean;
  /** The page of the console; null for none. */
  readonly link: string | null;
}

/** The decision that counts, or that none came in time. */
interface ShownDecision {
  readonly decision: string;
  readonly decidedBy: string;
  readonly decidedThrough: string | null;
  readonly reason: string;
}

/** A message: what a notification reads, and the layout. */
export interface SlackMessage {
  readonly text: string;
  readonly blocks: readonly JsonObject[];
}

/** Characters of a text that a message shows; what is longer is cut, and Slack takes 3,000 a block. */
const longestShown = 2_800;
const mostNames = 20;
/** Slack’s own: characters of a reason in a dialog. */
const longestReason = 3_000;

/**
 * A call that waits, with buttons where decisions are made in Slack. Others’ texts stand where Slack reads no markup.
 * Whose arguments are not all there cannot be approved from the message.
 */
export function waitingMessage(approval: ShownApproval, button: ButtonValue | null): SlackMessage {
  const { link, approvedBy, stillNeeded } = approval;
  const isNone = approvedBy.length === 0;
  const ofAll = `${String(approvedBy.length)} of ${String(approvedBy.length + stillNeeded)}`;
  const progress = `${ofAll} approved, by ${names(approvedBy)}`;
  const value = button === null ? null : buttonText(button);
  const isWhole = approval.arguments !== null && argumentsText(approval.arguments).length <= longestShown;
  const buttons = [
    ...(value === null || value.length > longestValue
      ? []
      : [
          ...(isWhole ? [buttonOf('Approve', decisionActions.approve, value, 'primary')] : []),
          buttonOf('Refuse', decisionActions.refuse, value, 'danger'),
        ]),
    ...(link === null ? [] : [{ ...buttonOf('Open', 'sluice_open', ''), url: link }]),
  ];
  const note = isWhole || value === null ? [] : [line([plain('The console shows all arguments, and can approve.')])];
  return {
    text: isNone
      ? `A call of ${escaped(approval.tool)} waits for an approval.`
      : `A call of ${escaped(approval.tool)} waits for an approval: ${escaped(progress)}.`,
    blocks: [
      header(approval.isEscalated ? 'A call still waits for an approval' : 'A call waits for an approval'),
      ...about(approval),
      line([
        plain('Until '),
        {
          type: 'date',
          timestamp: Math.floor(approval.expiresAt / 1_000),
          format: '{date_short_pretty} {time}',
          fallback: iso(approval.expiresAt),
        },
        plain(` · may decide: ${names(approval.approvers)}`),
        ...(isNone && stillNeeded > 1 ? [plain(` · ${String(stillNeeded)} persons have to approve`)] : []),
      ]),
      ...(isNone ? [] : [line([plain(progress)])]),
      ...note,
      ...(buttons.length === 0 ? [] : [{ type: 'actions', block_id: 'sluice_decision', elements: buttons }]),
    ],
  };
}

/** The same without buttons, once it is decided on, or its time is up. */
export function endedMessage(approval: ShownApproval, ended: ShownDecision): SlackMessage {
  const title = titleOf(ended);
  const { decidedBy, decidedThrough, reason, decision } = ended;
  const isDecision = decision === 'approve' || decision === 'refuse';
  const by = `by ${decidedBy}${decidedThrough === null ? '' : ` through ${decidedThrough}`}`;
  return {
    text: `${title}: ${escaped(approval.tool)}${isDecision ? `, ${escaped(by)}` : ''}.`,
    blocks: [
      header(title),
      ...about(approval),
      ...(isDecision ? [line([plain(`${title} ${by}`)])] : []),
      ...(reason === '' ? [] : [quoted(reason)]),
    ],
  };
}

/** What a channel is sent to try whether it can be. Nothing can be decided there. */
export function trialMessage(link: string | null): SlackMessage {
  const said = 'Sluice can post here. No call waits: a person tried whether approvals can be asked for.';
  const open = { ...buttonOf('Open the console', 'sluice_open', ''), url: link };
  return {
    text: said,
    blocks: [
      header('A trial of Sluice'),
      line([plain(said)]),
      ...(link === null ? [] : [{ type: 'actions', block_id: 'sluice_trial', elements: [open] }]),
    ],
  };
}

/** The dialog that asks why. */
export function reasonView(decision: 'approve' | 'refuse', tool: string, value: string): JsonObject {
  const title = decision === 'approve' ? 'Approve' : 'Refuse';
  return {
    ...{ type: 'modal', callback_id: reasonDialog, private_metadata: dialogText(decision, value) },
    ...{ title: plainText(title), submit: plainText(title), close: plainText('Cancel') },
    blocks: [
      line([plain(tool)]),
      {
        ...{ type: 'input', block_id: reasonField, optional: true, label: plainText('Reason') },
        element: { type: 'plain_text_input', action_id: reasonField, multiline: true, max_length: longestReason },
        hint: plainText(decision === 'refuse' ? 'The model reads it.' : 'It is recorded with the decision.'),
      },
    ],
  };
}

/** A dialog with a sentence and nothing to do. */
export function noteView(sentence: string): JsonObject {
  return {
    ...{ type: 'modal', title: plainText('Sluice'), close: plainText('Close') },
    blocks: [line([plain(sentence)])],
  };
}

function titleOf({ decision, reason }: ShownDecision): string {
  switch (decision) {
    case 'approve':
      return 'Approved';
    case 'refuse':
      return 'Refused';
    case 'run':
      return 'Ran without a decision';
    default:
      return reason === '' ? 'Expired' : 'No longer needed';
  }
}

function about(approval: ShownApproval): readonly JsonObject[] {
  const { tool, description, effect, question, askedBecause, requestedBy, onBehalfOf } = approval;
  const asker = `${requestedBy}${onBehalfOf === null ? '' : ` for ${onBehalfOf}`}`;
  return [
    line([bold(tool), plain(`  ${effect}`), ...(description === null ? [] : [plain(`\n${description}`)])]),
    ...(question === null ? [] : [line([plain(`Asked by ${asker}:`)]), quoted(question)]),
    ...(question === null ? [line([plain(`Asked by ${asker}`)])] : []),
    ...(approval.arguments === null ? [] : [code(argumentsText(approval.arguments))]),
    ...(askedBecause === '' ? [] : [line([plain(askedBecause)])]),
  ];
}

function argumentsText(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

function names(approvers: readonly string[]): string {
  const shown = approvers.slice(0, mostNames).map((one) => (one === '*' ? 'everybody' : one));
  return `${shown.join(', ')}${approvers.length > mostNames ? ', …' : ''}`;
}

function header(text: string): JsonObject {
  return { type: 'header', text: plainText(text) };
}

function plainText(text: string): JsonObject {
  return { type: 'plain_text', text, emoji: false };
}

function buttonOf(text: string, action: string, value: string, style?: 'primary' | 'danger'): JsonObject {
  return {
    ...{ type: 'button', action_id: action, text: plainText(text) },
    ...(value === '' ? {} : { value }),
    ...(style === undefined ? {} : { style }),
  };
}

function line(elements: readonly JsonObject[]): JsonObject {
  return rich({ type: 'rich_text_section', elements });
}

function quoted(text: string): JsonObject {
  return rich({ type: 'rich_text_quote', elements: [plain(text)] });
}

function code(text: string): JsonObject {
  return rich({ type: 'rich_text_preformatted', elements: [plain(text)] });
}

function rich(element: JsonObject): JsonObject {
  return { type: 'rich_text', elements: [element] };
}

function plain(text: string): JsonObject {
  const clean = printable(text);
  const cut = clean.length > longestShown ? `${clean.slice(0, longestShown).toWellFormed()}…` : clean;
  return { type: 'text', text: cut };
}

function bold(text: string): JsonObject {
  return { ...plain(text), style: { bold: true } };
}

/** Where Slack reads markup: no one is mentioned by a tool’s name. */
function escaped(text: string): string {
  return printable(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
