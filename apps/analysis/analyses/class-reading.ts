import type { LlmReading } from '#llm';

/** The model's class of one mention. */
export interface ClassAnswer {
  class: string;
  /** 0 to 1 */
  confidence: number;
}

/**
 * Returns the question to a language model about the class of each mention.
 * @param instruction how to classify; if it is empty, the model uses only the names of the classes
 */
export function classReading(classes: readonly string[], instruction: string): LlmReading<ClassAnswer> {
  return {
    prompt: { name: 'classify', version: '1' },
    instructions: `You sort each item into one class, for a monitoring service. The classes: ${JSON.stringify(classes)}.
${instruction}
"class" is the class that fits best, "confidence" how sure you are, from 0 to 1.`,
    schema: {
      type: 'object',
      properties: {
        class: { type: 'string', enum: [...classes] },
        confidence: { type: 'number', minimum: 0, maximum: 1 },
      },
      required: ['class', 'confidence'],
      additionalProperties: false,
    },
    check(answer) {
      const given = (answer ?? {}) as Partial<ClassAnswer>;
      if (!classes.includes(given.class as string)) return { fault: '"class" must be one of the classes' };
      const { confidence } = given;
      if (typeof confidence !== 'number' || !(confidence >= 0 && confidence <= 1))
        return { fault: '"confidence" must be a number from 0 to 1' };
      return { value: { class: given.class as string, confidence } };
    },
  };
}
