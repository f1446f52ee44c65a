# Made from ../_async by `node scripts/docs.ts`; do not edit.
"""The synchronous client, made from `_async` by `node scripts/docs.ts`."""
