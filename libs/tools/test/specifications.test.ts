import { describe, expect, it } from '@jest/globals';
import type { JsonObject, JsonValue, ToolEffect } from '@sluice/core';
import { builtInTools, toolTypes } from '../src/index.js';
import { redact } from '../src/binding/redact.js';

const types = toolTypes(builtInTools);

/** What each tool does, read off its text: whoever adds a tool decides it here too. */
const effects: Readonly<Record<ToolEffect, readonly string[]>> = {
  read_only: [
    'file_exists',
    'get_current_time',
    'get_next_todo',
    'get_progress',
    'get_workspace_summary',
    'knowledge-query',
    'list_files',
    'list_todos',
    'mark_complete',
    'read_file',
    'search_files',
    'text-completion',
  ],
  state_change: [
    'add_todo',
    'append_file',
    'archive_and_reset',
    'complete_todo',
    'delete_file',
    'graph-update',
    'start_todo',
    'write_file',
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
