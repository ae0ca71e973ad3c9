/**
 * A file of the model: beside the sources, not in the build's output, which has the same depth in `dist` and
 * `dist-test`.
 */
export function modelFile(name: string): URL {
  return new URL(`../../../libs/embeddings/model/${name}`, import.meta.url);
}
