import { requirementTypes } from '../document/candidates.js';
import { textOf } from './similarity.js';
import type { GraphNode, GraphRelationship } from './store.js';

export const nodeLabels = ['Requirement', 'BusinessObject', 'Message'] as const;

/** What may lead from where to where. */
export const relationshipTypes: Readonly<Record<string, readonly [from: string, to: string]>> = {
  FULFILLED_BY_OBJECT: ['Requirement', 'BusinessObject'],
  FULFILLED_BY_MESSAGE: ['Requirement', 'Message'],
  REFINES: ['Requirement', 'Requirement'],
  DEPENDS_ON: ['Requirement', 'Requirement'],
  USES_OBJECT: ['Message', 'BusinessObject'],
};

interface Violation {
  readonly rule: string;
  /** The id of the node, or of the one that a relationship leaves. */
  readonly node: string;
  readonly problem: string;
}

/** Each rule of the metamodel with what it asks for; docs/packs.md lists them. */
export const metamodelRules = {
  label: 'a node is a Requirement, a BusinessObject or a Message',
  id: 'a node has an id, a requirement one such as R-0001',
  name: 'a node has a name, a requirement one of at most 80 characters',
  text: 'a requirement has a text',
  type: 'a requirement has one of the four types',
  unique: 'no two nodes of a label have one name',
  relationship: 'a relationship is of a known type and leads from and to the labels of that type',
  loop: 'no relationship leads from a node to itself, and REFINES in no circle',
  fulfilment: 'a requirement is fulfilled by something',
} as const;

/** What in the graph breaks the rules. */
export function violationsOf(
  nodes: readonly GraphNode[],
  relationships: readonly GraphRelationship[],
): readonly Violation[] {
  const byKey = new Map(nodes.map((node) => [node.key, node]));
  const idOf = (node: GraphNode | undefined): string =>
    node === undefined ? '' : textOf(node, 'id') || textOf(node, 'name') || node.key;
  const labelOf = (node: GraphNode | undefined): string => node?.labels[0] ?? '';
  const found: Violation[] = [];
  const add = (rule: keyof typeof metamodelRules, node: GraphNode | undefined, problem: string): void =>
    void found.push({ rule, node: idOf(node), problem });
  const fulfilled = new Set(
    relationships.filter(({ type }) => type.startsWith('FULFILLED_BY_')).map(({ from }) => from),
  );
  const names = new Map<string, GraphNode>();
  for (const node of nodes) {
    const label = labelOf(node);
    if (!nodeLabels.some((known) => known === label)) {
      add('label', node, `It is labelled ${label || 'nothing'}.`);
      continue;
    }
    const isRequirement = label === 'Requirement';
    const [id, name] = [textOf(node, 'id'), textOf(node, 'name')];
    if (id === '' || (isRequirement && !/^R-\d{4,}$/.test(id)))
      add('id', node, id === '' ? 'It has no id.' : `Its id is ${id}.`);
    if (name === '' || (isRequirement && name.length > 80))
      add('name', node, name === '' ? 'It has no name.' : 'Its name is too long.');
    if (isRequirement && textOf(node, 'text') === '') add('text', node, 'It has no text.');
    const type = textOf(node, 'type');
    if (isRequirement && !requirementTypes.some((known) => known === type))
      add('type', node, `Its type is ${type || 'missing'}.`);
    if (isRequirement && !fulfilled.has(node.key)) add('fulfilment', node, 'Nothing fulfils it.');
    const key = `${label} ${name.toLowerCase()}`;
    const other = names.get(key);
    if (name !== '' && other !== undefined) add('unique', node, `${idOf(other)} has the same name.`);
    names.set(key, node);
  }
  for (const { type, from, to } of relationships) {
    const [source, target] = [byKey.get(from), byKey.get(to)];
    const ends = relationshipTypes[type];
    if (ends === undefined) add('relationship', source, `${type} is no known type.`);
    else if (labelOf(source) !== ends[0] || labelOf(target) !== ends[1])
      add(
        'relationship',
        source,
        `${type} leads from ${labelOf(source)} to ${labelOf(target)}, not from ${ends[0]} to ${ends[1]}.`,
      );
    if (from === to) add('loop', source, `${type} leads to the node itself.`);
  }
  const refines = relationships.filter(({ type, from, to }) => type === 'REFINES' && from !== to);
  for (const key of inCircles(refines)) add('loop', byKey.get(key), 'It refines itself over others.');
  return found;
}

/** The nodes from which a way leads back to them. */
function inCircles(edges: readonly GraphRelationship[]): readonly string[] {
  const targets = new Map<string, string[]>();
  for (const { from, to } of edgesBothWays(edges)) targets.set(from, [...(targets.get(from) ?? []), to]);
  return [...targets.keys()].filter((start) => {
    const seen = new Set<string>();
    const waiting = [start];
    for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
      for (const to of targets.get(at) ?? []) {
        if (to === start) return true;
        if (!seen.has(to)) waiting.push(to);
        seen.add(to);
      }
    }
    return false;
  });
}

/** Those that have something before and something behind them: no other is in a circle. */
function edgesBothWays(edges: readonly GraphRelationship[]): readonly GraphRelationship[] {
  let left = edges;
  for (;;) {
    const [sources, targets] = [new Set(left.map(({ from }) => from)), new Set(left.map(({ to }) => to))];
    const next = left.filter(({ from, to }) => targets.has(from) && sources.has(to));
    if (next.length === left.length) return next;
    left = next;
  }
}
