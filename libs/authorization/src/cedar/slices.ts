import type { PolicyJson, TypeAndId } from '@cedar-policy/cedar-wasm/nodejs';
import { engine } from './engine.js';
import type { Question } from './question.js';

/**
 * Policies in all slices together, at most: Cedar keeps what it parsed for ever. Questions beyond are put to all
 * policies.
 */
const mostKept = 50_000;

/** A policy, and what its scope names; null where it names nothing, or something that only the hierarchy can tell. */
interface Scoped {
  readonly id: string;
  readonly text: string;
  readonly action: string | null;
  readonly resource: string | null;
}

/**
 * The policies of a text by the action and the resource that their scopes name. Cedar goes through every policy of a
 * set for each question, and copies the set before; a policy whose scope names another action or another resource
 * neither decides nor fails, so a question needs none of these.
 */
export class PolicySlices {
  private readonly policies: readonly Scoped[];
  private readonly sets = new Map<string, string>();
  private readonly named: ReadonlySet<string>;
  private kept: number;

  /**
   * `name` is that of the whole set, which is parsed already. Throws the engine’s own error where the text cannot be
   * taken apart.
   */
  constructor(
    private readonly name: string,
    text: string,
  ) {
    const parts = engine().policySetTextToParts(text);
    const texts = parts.type === 'success' && parts.policy_templates.length === 0 ? parts.policies : [];
    this.policies = texts.map(scopedOf);
    this.named = new Set(this.policies.flatMap(({ resource }) => resource ?? []));
    this.kept = texts.length;
  }

  /** The name of a parsed set with all policies that have a say about the question. */
  setFor({ action, resource }: Pick<Question, 'action' | 'resource'>): string {
    // What no scope names has the same policies as anything else that none names.
    const about = uidOf(resource);
    const asked = { action: uidOf(action), resource: about !== null && this.named.has(about) ? about : '' };
    const key = JSON.stringify(asked);
    const known = this.sets.get(key);
    if (known !== undefined) return known;
    const set = this.parsed(asked, key);
    this.sets.set(key, set);
    return set;
  }

  private parsed(
    { action, resource }: { readonly action: string | null; readonly resource: string },
    key: string,
  ): string {
    const those = this.policies.filter(
      (one) => (one.action === null || one.action === action) && (one.resource === null || one.resource === resource),
    );
    if (those.length === this.policies.length || this.kept + those.length > mostKept) return this.name;
    const set = `${this.name}/${key}`;
    const staticPolicies = Object.fromEntries(those.map(({ id, text }) => [id, text]));
    if (engine().preparsePolicySet(set, { staticPolicies }).type === 'failure') return this.name;
    this.kept += those.length;
    return set;
  }
}

function scopedOf(text: string, place: number): Scoped {
  const read = engine().policyToJson(text);
  const json = read.type === 'success' ? read.json : null;
  return { id: `policy${place}`, text, action: named(json?.action), resource: named(json?.resource) };
}

/** The one entity that a scope is about. */
function named(scope: PolicyJson['action'] | PolicyJson['resource'] | undefined): string | null {
  return scope?.op === '==' && 'entity' in scope ? uidOf(scope.entity) : null;
}

function uidOf(entity: Question['resource']): string | null {
  const { type, id } = ('__entity' in entity ? entity.__entity : entity) as TypeAndId;
  return JSON.stringify([type, id]);
}
