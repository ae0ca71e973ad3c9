import { defineConfig, type Plugin } from 'vite';

/** The gateway to which the development server forwards API requests. */
const GATEWAY = process.env.EARSHOT_URL ?? 'http://127.0.0.1:8080';

/**
 * Adds links, so that the browser loads `app.tsx` and its imports together with `main.ts`. Otherwise the browser would
 * find them only after it has loaded `main.ts`, which is small.
 */
const preloadApp: Plugin = {
  name: 'preload-app',
  transformIndexHtml: {
    order: 'post',
    handler: (_, { bundle = {} }) => {
      const app = Object.values(bundle).find(
        (file) => file.type === 'chunk' && file.facadeModuleId?.endsWith('/app.tsx'),
      );
      if (app?.type !== 'chunk') return [];
      return [app.fileName, ...app.imports].map((file) => ({
        tag: 'link',
        attrs: { rel: 'modulepreload', crossorigin: true, href: `/${file}` },
      }));
    },
  },
};

export default defineConfig({
  root: import.meta.dirname,
  plugins: [preloadApp],
  // The gateway replaces this placeholder in each response.
  html: { cspNonce: 'NONCE' },
  server: { proxy: { '/v1': { target: GATEWAY, changeOrigin: true } } },
  build: {
    outDir: '../../dist/apps/dashboard',
    emptyOutDir: true,
    manifest: true,
    target: 'es2022',
    // Files are not inlined, because the content security policy allows `data:` only for images.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
    reportCompressedSize: false,
    rolldownOptions: {
      // Libraries mark code for React's server components. Warnings about these marks are ignored, because the
      // dashboard has no server components.
      onLog(level, log, report) {
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') report(level, log);
      },
    },
  },
});
