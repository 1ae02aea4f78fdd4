import { ToolIndex } from './ranked.js';
import type { OfferedTool } from './tool.js';

/** A client sends the same tools with every request, and many clients send few lists. */
const mostLists = 32;
/** Bytes of all of them, about; the list that came last is held in any case. */
const mostBytes = 48_000_000;
/** What is read of a definition takes so many bytes for each character of it, about. */
const bytesForCharacter = 8;

interface Held {
  readonly tools: readonly (OfferedTool & { readonly raw?: string })[];
  readonly index: ToolIndex;
  readonly bytes: number;
}

/** Indexes of the tool lists that were met last. */
export class IndexCache {
  private held: Held[] = [];

  /** The index of these tools; that of an equal list is used again. */
  indexOf(tools: Held['tools']): ToolIndex {
    const at = this.held.findIndex((one) => isSame(one.tools, tools));
    const [found = indexed(tools)] = at < 0 ? [] : this.held.splice(at, 1);
    let bytes = 0;
    this.held = [found, ...this.held]
      .slice(0, mostLists)
      .filter((one) => (bytes += one.bytes) <= mostBytes || one === found);
    return found.index;
  }
}

function indexed(tools: Held['tools']): Held {
  const index = new ToolIndex(tools);
  const characters = tools.reduce((sum, { name, description, raw }) => sum + (raw ?? name + description).length, 0);
  return { tools, index, bytes: index.bytes + bytesForCharacter * characters };
}

/** By the text of the definitions where it is there: comparing it takes far less than an index. */
function isSame(one: Held['tools'], other: Held['tools']): boolean {
  if (one === other) return true;
  if (one.length !== other.length) return false;
  return one.every((tool, index) => {
    const beside = other[index];
    if (tool === beside) return true;
    return tool.raw !== undefined && tool.raw === beside?.raw && tool.name === beside.name;
  });
}
