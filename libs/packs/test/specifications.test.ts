import { describe, expect, it } from '@jest/globals';
import type { JsonObject, JsonValue, ToolEffect } from '@sluice/core';
import { builtInTools } from '@sluice/packs';
import { redact, toolTypes } from '@sluice/tools';

const types = toolTypes(builtInTools);

/** What each tool does, read off its text: whoever adds a tool decides it here too. */
const effects: Readonly<Record<ToolEffect, readonly string[]>> = {
  read_only: [
    'assess_gobd_relevance',
    'check_for_duplicates',
    'chunk_document',
    'count_graph_statistics',
    'execute_cypher_query',
    'extract_document_text',
    'extract_entity_mentions',
    'file_exists',
    'find_similar_requirements',
    'get_citation',
    'get_current_time',
    'get_database_schema',
    'get_entity_relationships',
    'get_next_todo',
    'get_progress',
    'get_workspace_summary',
    'identify_requirement_candidates',
    'knowledge-query',
    'list_files',
    'list_sources',
    'list_todos',
    'load_toolset',
    'mark_complete',
    'plan',
    'query_similar_requirements',
    'read_file',
    'read_result',
    'resolve_business_object',
    'resolve_message',
    'search_files',
    'search_tools',
    'text-completion',
    'validate_schema_compliance',
    'web_search',
  ],
  state_change: [
    'add_todo',
    'append_file',
    'archive_and_reset',
    'cite_document',
    'cite_web',
    'complete_todo',
    'create_fulfillment_relationship',
    'create_requirement_node',
    'delete_file',
    'generate_requirement_id',
    'graph-update',
    'start_todo',
    'write_file',
    'write_requirement_to_cache',
  ],
  // For whoever binds it as it is: a configuration gives it the effect of its tools.
  external_side_effect: ['agent'],
};

describe('every built-in tool', () => {
  it.each(Object.entries(effects))('has the effect that it was reviewed to have: %s (T-17c)', (effect, names) => {
    const found = types.filter((type) => type.effect === effect).map(({ type }) => type);
    expect(found.sort()).toEqual(names);
  });

  it.each(types.map(({ type, redaction }) => ({ type, redaction })))(
    '$type says what of its result may go out, and the same result goes out the same way (T-04a)',
    ({ redaction }) => {
      if ('whole' in redaction) return expect(redaction).toEqual({ whole: true });
      expect(redaction.fields.length).toBeGreaterThan(0);
      const result: JsonObject = Object.fromEntries(
        [...redaction.fields, 'secret'].map((name) => [name, `of ${name}`]),
      );
      const once = redact(redaction, result as JsonValue);
      expect(redact(redaction, result as JsonValue)).toEqual(once);
      expect(Object.keys(once as JsonObject)).toEqual(redaction.fields);
    },
  );
});
