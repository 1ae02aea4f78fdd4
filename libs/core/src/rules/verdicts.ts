import { ruleInWords } from '../availability/in-words.js';
import { needsApproval } from '../approval/needs-approval.js';
import type { Decision, Evaluator } from './evaluate.js';
import type { HiddenReason } from './hidden-reasons.js';
import { type RuleFactName, type Unknown, dependsOn } from './partly-known.js';
import { whatOpens } from './what-opens.js';

/** One tool of a decision: offered, or hidden with every reason. */
export interface ToolVerdict {
  readonly key: string;
  readonly id: string;
  readonly offered: boolean;
  /** Whether a call of it would wait for an approval. */
  readonly needs_approval: boolean;
  readonly reasons: readonly VerdictReason[];
  /** What its rules ask for and is not known here: with it the verdict may be another. Absent where all is known. */
  readonly depends_on?: readonly RuleFactName[];
}

interface VerdictReason {
  readonly code: HiddenReason;
  readonly text: string;
  /** What would open it. */
  readonly opens: string;
  /** The rules that close the tool, in words; empty for other reasons. */
  readonly rules: readonly { readonly name: string; readonly words: readonly string[] }[];
}

/** Every tool of the configuration with its verdict, in its order, as the evaluator decided it. */
export function toolVerdicts(evaluator: Evaluator, decision: Decision, unknown: Unknown): readonly ToolVerdict[] {
  const { tools, policy } = evaluator.configuration;
  const hidden = new Map(decision.hidden.map(({ key, reasons }) => [key, reasons]));
  return tools.map((tool, place) => {
    const reasons = hidden.get(tool.key) ?? [];
    const open = dependsOn(evaluator, tool.id, unknown);
    return {
      ...{ key: tool.key, id: tool.id, offered: reasons.length === 0, needs_approval: needsApproval(tool, policy) },
      reasons: whatOpens(tool, reasons, { evaluator, closed: decision.closed, named: () => true, whole: true }).map(
        (one) => reasonOf(one, place, decision, evaluator),
      ),
      ...(open.length > 0 && { depends_on: open }),
    };
  });
}

function reasonOf(
  explained: ReturnType<typeof whatOpens>[number],
  place: number,
  { closed }: Pick<Decision, 'closed'>,
  { availability, configuration, byId }: Evaluator,
): VerdictReason {
  const names = availability
    .named(closed & availability.ofTool(place))
    .filter(({ kind }) => kind === explained.code)
    .map(({ rule }) => rule);
  const rules = (configuration.rules ?? [])
    .filter(({ name }) => names.includes(name))
    .map((rule) => ({ name: rule.name, words: ruleInWords(rule, (id) => byId(id)?.key ?? id) }));
  return { ...explained, rules };
}
