/** What one session may keep; with these the worst result of every tool stays under 32 KB. */
export const workspaceLimits = {
  fileBytes: 1_048_576,
  totalBytes: 16_777_216,
  /** Files and directories together. */
  entries: 1_000,
} as const;

export type EntryKind = 'file' | 'directory';

/** A part of a text file. Offsets and sizes are in bytes of UTF-8. */
export interface FilePart {
  readonly text: string;
  /** Where the part begins: the one asked for, or the next beginning of a character. */
  readonly offset: number;
  readonly size: number;
  /** Where the next part begins; null at the end of the file. */
  readonly nextOffset: number | null;
}

export interface Written {
  /** Size of the whole file afterwards. */
  readonly size: number;
  readonly created: boolean;
}

export interface Entry {
  readonly name: string;
  readonly kind: EntryKind;
  readonly bytes: number;
}

export interface Listing {
  readonly entries: readonly Entry[];
  /** Entries of the directory, shown or not. */
  readonly total: number;
}

export interface Match {
  readonly path: string;
  /** From 1. */
  readonly line: number;
  /** Byte at which the line begins. */
  readonly offset: number;
  readonly text: string;
}

export interface Matches {
  readonly matches: readonly Match[];
  /** True if there may be more. */
  readonly truncated: boolean;
}

export interface Usage {
  readonly files: number;
  readonly directories: number;
  readonly bytes: number;
}

/**
 * The files of one session. Paths are relative, with `/`; no path leads out of it. Throws ToolUserError for what the
 * caller can mend, and ToolUnavailableError, with nothing changed, if the store cannot be used.
 */
export interface Workspace {
  /** At most `limit` bytes from `offset` on, whole characters only. */
  read(path: string, offset: number, limit: number): Promise<FilePart>;
  /** The whole file as it is; null if there is none. */
  bytes(path: string): Promise<Uint8Array | null>;
  /** Replaces the file as a whole, or makes it with the directories above it. */
  write(path: string, text: string): Promise<Written>;
  /** Adds to the end; makes the file if it is not there. */
  append(path: string, text: string): Promise<Written>;
  /** Sorted by name, from `offset` on, at most `limit`. */
  list(path: string, offset: number, limit: number): Promise<Listing>;
  /** Removes a file or an empty directory; false if there was nothing. */
  remove(path: string): Promise<boolean>;
  /** Lines that hold the text, upper and lower case alike, in the files at or under the path. */
  search(text: string, path: string, limit: number, signal: AbortSignal): Promise<Matches>;
  kindOf(path: string): Promise<EntryKind | null>;
  usage(): Promise<Usage>;
}

/** The workspaces of all sessions. */
export interface Workspaces {
  /** The workspace of a session, by `sessionKey`. Nothing is made before something is written. */
  of(session: string): Workspace;
  /** Removes those that were not used since then, milliseconds since the epoch; returns how many. Reading is a use. */
  forget(before: number): Promise<number>;
}
