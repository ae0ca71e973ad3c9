import { helpWanted, runBench, printProgress } from './harness.js';
import { measureCost, measureMemory } from './readings/cost.js';
import { measureGold, measureOwnRelevance, measureStance } from './readings/gold.js';
import { BenchReader } from './readings/read.js';
import { measureProduct } from './readings/product.js';
import { measureSentiment } from './readings/sentiment.js';

helpWanted(`
Usage: npm run bench:readings -- [--data FOLDER] [--product] [--posts 2000]

Measures the local reader on labelled posts: sentiment compared with VADER and AFINN, stance, intent, relevance, and cost.
  --product       measures only the sentiment of labelled tweets through the whole product, from a simulated source to the API
  --posts N       the number of these tweets
  --data FOLDER   the labelled data (default: READINGS_DATA, or ../shared/readings); what is absent is not measured
`);

await runBench(async (cleanup) => {
  if (process.argv.includes('--product')) return measureProduct(await BenchReader.load(), cleanup);
  printProgress('memory …');
  await measureMemory();
  const reader = await BenchReader.load();
  printProgress('cost …');
  await measureCost(reader);
  printProgress('relevance …');
  await measureOwnRelevance(reader);
  printProgress('gold …');
  await measureGold(reader);
  printProgress('sentiment …');
  await measureSentiment(reader);
  printProgress('stance …');
  await measureStance(reader);
});
