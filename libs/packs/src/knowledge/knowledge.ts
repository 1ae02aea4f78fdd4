import { ToolUserError } from '@sluice/core';
import { change } from './change.js';
import { find } from './find.js';
import { readQuery } from './read-query.js';
import type { Answer, KnowledgeStore, Row } from '@sluice/tools';
import { cellOf } from './terms.js';
import type { Term } from './terms.js';
import type { QueryResult, TripleStore } from './triple-store.js';

/** The knowledge graph over triples, wherever they are kept. */
export function knowledgeOver(store: TripleStore): KnowledgeStore {
  return {
    find: async (entity, relation, signal) => {
      signal.throwIfAborted();
      await store.refresh();
      return find({ store, signal }, entity.trim(), relation);
    },
    query: async (sparql, signal) => {
      const query = readQuery(sparql);
      signal.throwIfAborted();
      await store.refresh();
      const answer = answerOf(await store.run(query, signal));
      if (answer.count > query.maxResults) {
        throw new ToolUserError(
          `The query has more than ${query.maxResults} results. Narrow it, or give it a lower LIMIT.`,
        );
      }
      return answer;
    },
    change: async (request, key, signal) => {
      signal.throwIfAborted();
      await store.refresh();
      return change({ store, signal }, request, key);
    },
    close: () => store.close(),
  };
}

function answerOf(result: QueryResult): Answer {
  switch (result.kind) {
    case 'boolean':
      return { rows: [{ answer: result.value }], count: 1 };
    case 'rows': {
      const rows = result.rows.map((binding) => rowOf(result.columns.map((column) => [column, binding[column]])));
      return { rows, count: rows.length };
    }
    case 'triples': {
      const rows = result.triples.map(({ subject, predicate, object }) =>
        rowOf(Object.entries({ subject, predicate, object })),
      );
      return { rows, count: rows.length };
    }
  }
}

function rowOf(cells: readonly (readonly [string, Term | undefined])[]): Row {
  return Object.fromEntries(cells.flatMap(([column, term]) => (term === undefined ? [] : [[column, cellOf(term)]])));
}
