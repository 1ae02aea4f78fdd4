import type { Echo, MessagePart, OtherPart, ReasoningPart, WireName } from '../types.js';

/** Gathers what a wire cannot say, each once. */
export class Dropped {
  private readonly subjects = new Set<string>();

  add(subject: string): void {
    this.subjects.add(subject);
  }

  /** A part that only the wire that it came from can say. */
  part(part: OtherPart | ReasoningPart): void {
    this.add(part.type === 'reasoning' ? 'reasoning of an earlier turn' : `a part of type \`${part.kind}\``);
  }

  list(): readonly string[] {
    return [...this.subjects];
  }
}

/** The fields that go back with a part, if they are of this wire. */
export function echoed(part: { readonly echo?: Echo }, wire: WireName): Echo['fields'] {
  return part.echo?.wire === wire ? part.echo.fields : {};
}

export function isOwn(part: MessagePart, wire: WireName): boolean {
  return part.type === 'other' ? part.wire === wire : part.type !== 'reasoning' || part.echo?.wire === wire;
}
