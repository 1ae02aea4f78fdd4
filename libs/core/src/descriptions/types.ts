/**
 * How much of a tool’s text a model is sent: all of it, or its short description, with the page of the tool to be
 * read at need.
 */
export const descriptionModes = ['full', 'deferred'] as const;
export type DescriptionMode = (typeof descriptionModes)[number];

/** What a tool with a deferred description is sent with: its schema, or the one that allows any object. */
export const deferredSchemas = ['full', 'minimal'] as const;
type DeferredSchema = (typeof deferredSchemas)[number];

/** How the tools of the agent are described to its model; which tools are deferred stands with each tool. */
export interface DescriptionSettings {
  readonly deferredSchema: DeferredSchema;
  /** Turns with no more tools than this have all of them in full. */
  readonly deferredAbove: number;
  /** Whether the first call of a deferred tool is refused while its page has not been read. */
  readonly readBeforeUse: boolean;
  /**
   * Groups whose tools come when the model asks for the group, each with the line that it reads instead; null where
   * none is written.
   */
  readonly deferredGroups: Readonly<Record<string, string | null>>;
}

/**
 * Tools that are always described in full unless the configuration lists others: those that an agent uses all the
 * time. By type.
 */
export const alwaysFullTypes: readonly string[] = [
  'read_file',
  'write_file',
  'add_todo',
  'complete_todo',
  'list_files',
];

/** The type of the tool with which a model reads files, and with them the pages of tools. */
export const readFileType = 'read_file';

/** The type of the tool that brings in a deferred group. */
export const loadToolsetType = 'load_toolset';

/** The type of the tool with which a model searches the tools that discovery left out. */
export const searchToolsType = 'search_tools';
