import { answer } from '../../context.js';
import { anthropicEngine } from './anthropic.js';
import { geminiEngine } from './gemini.js';
import { openaiEngine } from './openai.js';
import { perplexityEngine } from './perplexity.js';
import type { SimulatedSource } from '../simulated-source.js';

const ENGINES = [openaiEngine, anthropicEngine, perplexityEngine, geminiEngine];
const SERVED = { config: { source: 'ai_answers' as const } };

/**
 * Four engines with web search. An engine answers any prompt with the text of the newest post whose community is the
 * name of the engine. It cites the link of the post and the addresses in the text, in its own format.
 */
export const aiAnswersSource: SimulatedSource = {
  routes(app, context) {
    for (const engine of ENGINES) app.post(engine.path, SERVED, engine.open(context));
  },
  refuse(reply, status, message) {
    const engine = ENGINES.find(({ path }) => path === reply.request.routeOptions.url);
    return engine?.refuse(reply, status, message) ?? answer(reply, status, { error: { message } });
  },
  // The id of an item depends on the previous answer that the connector has stored, so the simulator cannot compute it.
  itemIdOf: () => undefined,
};
