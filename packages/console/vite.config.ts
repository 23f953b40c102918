import optimizeLocales from '@react-aria/optimize-locales-plugin'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

export default defineConfig({
  // Widgets bring their words in thirty languages; the console speaks one.
  plugins: [react(), { ...optimizeLocales.vite({ locales: ['en-US'] }), enforce: 'pre' }],
  build: { target: 'es2023', assetsInlineLimit: 0, reportCompressedSize: false, chunkSizeWarningLimit: 800 },
  html: { cspNonce: '__CSP_NONCE__' },
  logLevel: 'warn',
})
