import type { MediaPart } from '../types.js';

export function isPdf({ mediaType }: MediaPart): boolean {
  return mediaType === 'application/pdf';
}

/** The address that holds the bytes themselves, by which OpenAI’s wires take them. */
export function dataUrl({ mediaType, data }: MediaPart): string {
  return `data:${mediaType};base64,${data}`;
}

/** What stands before the media of a result on wires whose results are text alone. */
export function ofResult({ name, toolCallId }: { readonly name: string | null; readonly toolCallId: string }): string {
  return `From the result of ${name ?? 'the call'} (${toolCallId}):`;
}
