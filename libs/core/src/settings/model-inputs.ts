import type { ModelInput, ModelSettings } from './model-types.js';

/** Media types that models take: of images those that every provider’s API has. */
export type ModelMediaType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp' | 'application/pdf';

/**
 * What the model reads: what its settings say, else what models of its name are known to read. Of a name that is not
 * known, text alone: a provider refuses a request whose model takes no images.
 */
export function inputsOf(
  settings: Pick<ModelSettings, 'provider' | 'name' | 'baseUrl' | 'inputs'>,
): readonly ModelInput[] {
  return settings.inputs ?? knownInputs(settings);
}

const textAlone: readonly ModelInput[] = ['text'];
const withImages: readonly ModelInput[] = ['text', 'image'];
const withFiles: readonly ModelInput[] = ['text', 'image', 'pdf'];

function knownInputs({
  provider,
  name,
  baseUrl,
}: Pick<ModelSettings, 'provider' | 'name' | 'baseUrl'>): readonly ModelInput[] {
  const id = (name ?? '').toLowerCase();
  switch (provider) {
    case 'rules':
      return textAlone;
    case 'anthropic':
    case 'bedrock-anthropic':
      return isClaude(id) ? withFiles : textAlone;
    case 'bedrock':
      return isClaude(id) || /nova-(?:lite|pro|premier|2)/.test(id) ? withFiles : textAlone;
    case 'google':
      return isGemini(id) ? withFiles : textAlone;
    case 'openai-responses':
      return isOpenAi(id) ? withFiles : textAlone;
    case 'openai-compatible':
      // Of the servers that speak its format few take files as OpenAI does.
      if (isOpenAi(id)) return isOwnAddress(baseUrl) ? withFiles : withImages;
      return isClaude(id) || isGemini(id) || saysVision.test(id) ? withImages : textAlone;
  }
}

function isClaude(id: string): boolean {
  return /claude-(?!v?[12]|instant)/.test(id);
}

function isGemini(id: string): boolean {
  return /gemini-/.test(id) && !/embedding|tts|-live|audio/.test(id);
}

function isOpenAi(id: string): boolean {
  const known = /(?:^|\/)(?:gpt-4o|chatgpt-4o|gpt-4\.[15]|gpt-[5-9]|o1(?!-mini|-preview)|o3(?!-mini)|o4)/;
  return known.test(id) && !/audio|realtime|transcribe|tts|search/.test(id);
}

/** Models of others whose name says that they see. */
const saysVision = /llava|vision|(?:^|[\d/-])vl(?:[:\d-]|$)|minicpm-v|gemma-?3(?!n|.*(?:1b|270m))|llama-?4/;

function isOwnAddress(baseUrl: string | null): boolean {
  return baseUrl !== null && URL.canParse(baseUrl) && new URL(baseUrl).hostname === 'api.openai.com';
}
