"""The asynchronous client. `_sync` is made from this folder by `node scripts/docs.ts`."""
