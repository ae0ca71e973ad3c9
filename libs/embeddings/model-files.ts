/**
 * Returns the URL of a model file. The files are in the source folder and not in the output of the build. The relative
 * path is the same from `dist` and `dist-test`.
 */
export function modelFile(name: string): URL {
  return new URL(`../../../libs/embeddings/model/${name}`, import.meta.url);
}
