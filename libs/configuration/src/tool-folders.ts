import { withMeantSections } from './misspelt.js';
import { Section } from './section.js';

/** `tool_folders`: folders whose files are tool types. The compiler’s caller loads them, and passes them as types. */
export function readToolFolders(file: Section): readonly string[] {
  return file.names('tool_folders', 'a list of folders, such as `["../my-tools"]`') ?? [];
}

/** The tool folders of a file that is not checked yet; what is no folder’s name is left to the compiler to report. */
export function toolFolders(raw: unknown): readonly string[] {
  return readToolFolders(new Section(withMeantSections(raw, []), '', []));
}
