import type { LlmReading } from '#llm';

const MAX_CHARACTERS = 400;

/**
 * Returns a question to a language model. The question asks for one sentence that summarises several similar sentences.
 * The cited mentions are chosen before the model is asked. The model only writes the sentence; it cannot cite other
 * mentions.
 * @param instruction what the summary is about; empty: everything
 */
export function pointReading(instruction: string): LlmReading<string> {
  return {
    prompt: { name: 'summarise', version: '1' },
    instructions: `You write the summary of what people say, for a monitoring service. Each item contains sentences of several people who say nearly the same.
${instruction === '' ? '' : `The summary is about: ${JSON.stringify(instruction)}.`}
"sentence" says in one plain English sentence what they say. It adds nothing that they do not say.`,
    schema: {
      type: 'object',
      properties: { sentence: { type: 'string', maxLength: MAX_CHARACTERS } },
      required: ['sentence'],
      additionalProperties: false,
    },
    check(answer) {
      const { sentence } = (answer ?? {}) as { sentence?: unknown };
      const text = typeof sentence === 'string' ? sentence.replace(/\s+/g, ' ').trim() : '';
      if (text === '' || text.length > MAX_CHARACTERS)
        return { fault: `"sentence" must be a text of 1 to ${MAX_CHARACTERS} characters` };
      return { value: text };
    },
  };
}
