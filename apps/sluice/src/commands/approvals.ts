import { userInfo } from 'node:os';
import { parseArgs } from 'node:util';
import { approvalsMissing, keyOfRule, printableIn, sentenceList } from '@sluice/core';
import type { AskingRule } from '@sluice/core';
import { recordToJson } from '@sluice/contracts';
import { ownToken } from '@sluice/host';
import { allOpen, withApprovals } from '../approvals/approval-log.js';
import type { ApprovalLog, LoggedApproval } from '../approvals/approval-log.js';
import { decide } from '../approvals/decide.js';
import { editArguments } from '../approvals/edit-arguments.js';
import { showApproval } from '../approvals/show-approval.js';
import { byBeginning } from '../by-beginning.js';
import { shorten } from '../show/story.js';
import { refuseSurplus, sayWhat } from '../refuse-surplus.js';
import type { CommandContext } from './command-context.js';

export const usage = `sluice approvals list [--json]    calls that wait for an approval, the oldest first
sluice approvals show ID [--json] one that waits or was decided on: question, tool, arguments, the steps before, who may
                                  decide, and the outcome of the call; the beginning of its id is enough, here and below
sluice approvals approve ID [--arguments JSON | --edit] [--reason "…"] [--as user:NAME] [--json]
sluice approvals refuse ID [--reason "…"] [--as user:NAME] [--json]
  Decides, and says whether the decision was taken; exit code 1 if it was not. One that cannot count is not written.
  --as is who decides: your own name unless written. Where an identity is configured, the credential in SLUICE_TOKEN
  says who. --arguments is what the call is made with in place of its own arguments, as a JSON object; --edit opens
  these in $VISUAL or $EDITOR. Secrets, which stand as [redacted], are kept unless written. --json prints a line for
  each approval, or of a decision {approval_id, status, reason}: taken, pending or refused.`;

export async function run(args: readonly string[], surroundings: CommandContext): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      json: { type: 'boolean', default: false },
      reason: { type: 'string' },
      as: { type: 'string' },
      arguments: { type: 'string' },
      edit: { type: 'boolean', default: false },
    },
  });
  const [action, id, ...more] = positionals;
  if (more.length > 0) throw new Error(`One approval at a time.\n${usage}`);
  const words = id === undefined ? [] : [id];
  const takes = (count: number, ...taken: readonly string[]): void =>
    refuseSurplus({ values, words }, { taken, words: count }, usage);
  switch (action) {
    case 'list':
      takes(0, 'json');
      return withApprovals(surroundings, (log) => list(log, values.json, surroundings));
    case 'show': {
      takes(1, 'json');
      const named = idOf(id);
      return withApprovals(surroundings, (log) => showApproval(named, values.json, log, surroundings));
    }
    case 'approve':
    case 'refuse': {
      takes(1, 'reason', 'as', 'json', ...(action === 'approve' ? ['arguments', 'edit'] : []));
      if (values.edit && values.arguments !== undefined) throw new Error(`--arguments or --edit, not both.\n${usage}`);
      const named = idOf(id);
      const token = ownToken(surroundings.environment);
      const decidedBy = values.as ?? (token === undefined ? `user:${userInfo().username}` : '');
      const deciding = { decision: action, reason: values.reason ?? '', decidedBy } as const;
      return withApprovals(surroundings, async (log) => {
        const waiting = await find(log, named);
        const edited = values.edit ? editArguments(waiting.requested, surroundings) : (values.arguments ?? null);
        return decide(waiting, { ...deciding, edited }, log, values.json, surroundings);
      });
    }
    case undefined:
    default:
      throw new Error(`${sayWhat('approvals', action)}\n${usage}`);
  }
}

function idOf(id: string | undefined): string {
  if (id === undefined || id === '') throw new Error(`Name the approval.\n${usage}`);
  return id;
}

async function list(log: ApprovalLog, json: boolean, { write, print, paint }: CommandContext): Promise<number> {
  const open = await allOpen(log);
  if (json)
    for (const { requested } of open) print(`${JSON.stringify(recordToJson('ApprovalRequested', requested))}\n`);
  else if (open.length === 0) write('No call waits for an approval.\n');
  else
    for (const { requested } of open) {
      const { approvalId, tool, arguments: args, requestedBy, expiresAt, rules } = printableIn(requested);
      const given = rules.length === 0 ? [] : await log.claims.approvalsOf(requested.approvalId);
      const missing = approvalsMissing(rules, given);
      write(`${paint.strong(approvalId)}  ${paint.tool(tool)} ${shorten(args)}\n`);
      write(paint.dim(`   asked by ${requestedBy}, waits until ${time(expiresAt)}\n`));
      if (missing > 1 || given.length > 0)
        write(paint.dim(`   ${given.length} of ${given.length + missing} approvals: ${names(rules)}\n`));
    }
  return 0;
}

async function find(log: ApprovalLog, id: string): Promise<LoggedApproval> {
  const found = byBeginning(await allOpen(log), id, 'approval', ({ requested }) => requested.approvalId);
  if (found === undefined)
    throw new Error(`No call waits for the approval ${id}. "sluice approvals list" shows those that are open.`);
  return found;
}

function names(rules: readonly AskingRule[]): string {
  return sentenceList(rules.map(keyOfRule));
}

function time(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
