import type { GivenContent, ModelOptions, ModelRequest, ModelStep, StepContent } from '@sluice/core';
import type { MediaPart, MessagePart } from '@sluice/wires';

interface Shown {
  /** Null where nothing is to be said. */
  readonly text: string | null;
  readonly media: readonly MediaPart[];
}

/** What the question’s and the results’ content is for a provider: images and files as parts, all else as text. */
export class ShownContent {
  private readonly shown = new Set<string>();

  constructor(private readonly given: ModelOptions['given']) {}

  /** A line names each piece, since a picture does not say its name. */
  ofQuestion(content: ModelRequest['content'] = []): readonly MessagePart[] {
    return content.flatMap((one): MessagePart[] => {
      const { text, media } = this.of(one, '');
      return [{ type: 'text', text: text ?? line(one) }, ...media];
    });
  }

  /** A result’s text with what is said of its content, and its images and files. */
  ofResult(step: ModelStep, observation: string): { readonly text: string; readonly media: readonly MediaPart[] } {
    if (this.given === undefined || step.content.length === 0) return { text: observation, media: [] };
    const pieces = step.content.map((one) => this.of(one, observation));
    return {
      text: [observation, ...pieces.flatMap(({ text }) => text ?? [])].join('\n\n'),
      media: pieces.flatMap(({ media }) => media),
    };
  }

  private of(content: StepContent, observation: string): Shown {
    const given = this.given?.get(content.hash);
    if (given === undefined) return nothing;
    const isAgain = this.shown.has(content.hash);
    this.shown.add(content.hash);
    if (given.kind === 'note') {
      const isNamed = given.isUnread === true && names(observation, content);
      return isNamed ? nothing : { text: line(content, given.note), media: [] };
    }
    if (isAgain) return { text: line(content, 'it stands above'), media: [] };
    if (given.kind === 'text') return { text: `${line(content, given.note)}\n${given.text}`, media: [] };
    return { text: null, media: [mediaPart(content, given)] };
  }
}

const nothing: Shown = { text: null, media: [] };

/** Whether a result’s list of blocks has the type and size already. */
function names(observation: string, { type, size }: StepContent): boolean {
  return observation.includes(`"mimeType":${JSON.stringify(type)}`) && observation.includes(`"bytes":${String(size)}`);
}

function line({ kind, type, size, name }: StepContent, note?: string): string {
  const named = name === null ? '' : `${name}: `;
  return `[${named}${kind}, ${type}, ${String(size)} bytes${note === undefined ? '' : `; ${note}`}]`;
}

/** The name is of the hash, so that no two of a request are alike. */
function mediaPart({ hash }: StepContent, { mediaType, data }: GivenContent & { readonly kind: 'media' }): MediaPart {
  return { type: 'media', mediaType, data, name: `${hash.slice(0, 12)}.${mediaType.split('/')[1] ?? ''}` };
}
