import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

// Another port would be another origin, which the gateway does not know.
export default defineConfig({ plugins: [react()], server: { port: 5173, strictPort: true } });
