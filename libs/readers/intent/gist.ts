import type { Intent } from '#contracts';
import { networkOutputs, softmax, type Network } from '../sentiment/network.js';
import type { Mood } from '../sentiment/linear.js';
import { SUBJECT } from '../text/names.js';
import { anyOf } from './rule.js';

/** The intents that the classifier recognizes from the text as a whole, in the order of its outputs. */
export const GIST_INTENTS = [
  'other',
  'promotion',
  'buy_intent',
  'praise',
  'complaint',
] as const satisfies readonly Intent[];

/** The minimum probability of each intent. If it is not reached, the intent is `other`. */
const MIN_PROBABILITY: Readonly<Record<(typeof GIST_INTENTS)[number], number>> = {
  other: 0,
  promotion: 0.5,
  buy_intent: 0.4,
  praise: 0.4,
  complaint: 0.5,
};

/**
 * The classifier reads, in addition to the embedding and the mood, whether each of these patterns occurs in the text.
 */
const CUES: readonly RegExp[] = [
  /\bhttp\b/u,
  /^@user/u,
  /[?]/u,
  /!/u,
  anyOf(['i', "i'm", "i've", "i'll", "i'd", 'my', 'me', 'im', 'mine']),
  anyOf(['we', 'our', 'us', "we're", "we've"]),
  anyOf(['you', 'your', 'you are', "you're", 'ur']),
  anyOf([
    'join',
    'register',
    'win',
    'free',
    'deals?',
    'sale',
    'check out',
    'check it out',
    'giveaway',
    'offer',
    'discount',
    'webinar',
    'workshop',
    'event',
    'live',
    'available',
    'enter',
    'sign up',
    'download',
    'shop',
    'book',
    'learn more',
    'dont miss',
    "don't miss",
    'coming soon',
    'stream(?:ing)?',
    'contest',
    'sponsor(?:s|ed)?',
    'proud',
    'now on',
    'tune in',
    'only',
    'visit',
    'come',
  ]),
  anyOf([
    'want',
    'need',
    'buy',
    'get',
    'getting',
    'order(?:ed)?',
    'pre-?order(?:ed)?',
    'upgrad(?:e|ing)',
    'gonna',
    'going to',
    'bought',
    'purchase',
    'ready for',
    'tempted',
    'treat',
    'wanna',
    'crav(?:e|ing)',
  ]),
  /#/u,
  /[$€£]\s?\d/u,
  anyOf([
    'hate',
    'worst',
    'sucks?',
    'terrible',
    'awful',
    'useless',
    'annoying',
    'broken',
    'fail(?:s|ed)?',
    'waiting',
    'late',
    'never',
    'still',
    'ridiculous',
    'joke',
    'sick of',
    'tired of',
    'disappointed',
    'wtf',
    'crap',
    'shit',
    'fuck(?:ing)?',
    'stop',
    'slow',
  ]),
  anyOf([
    'love',
    'best',
    'great',
    'awesome',
    'amazing',
    'thanks?',
    'thank you',
    'perfect',
    'excellent',
    'beautiful',
    'favou?rite',
    'impressed',
    'brilliant',
    'fantastic',
  ]),
  new RegExp(SUBJECT, 'u'),
];

/** Returns the input of the classifier for a text with this embedding and mood. */
export function gistInput(marked: string, embedding: Float32Array, mood: Mood): Float32Array {
  const input = new Float32Array(embedding.length + 3 + CUES.length);
  const scale = Math.sqrt(embedding.length) / 2;
  for (let n = 0; n < embedding.length; n++) input[n] = (embedding[n] as number) * scale;
  for (let n = 0; n < 3; n++) input[embedding.length + n] = 2 * Math.exp(mood[n as 0 | 1 | 2]);
  CUES.forEach((cue, n) => (input[embedding.length + 3 + n] = cue.test(marked) ? 1 : 0));
  return input;
}

/** Returns the intent that the text as a whole shows. */
export function gistOf(network: Network, input: Float32Array): (typeof GIST_INTENTS)[number] {
  const parts = softmax(networkOutputs(network, input));
  let [best, max] = [0, 0];
  for (const [at, part] of parts.entries()) if (part > max) [best, max] = [at, part];
  const intent = GIST_INTENTS[best] ?? 'other';
  return max < MIN_PROBABILITY[intent] ? 'other' : intent;
}
